//! What the wiring of each agent names.

use super::*;

const URL: &str = "http://127.0.0.1:4000";

#[test]
fn every_agent_is_pointed_at_the_provider_alone() {
    for agent in ["claude", "codex", "opencode", "gemini"] {
        let wiring = wiring(agent, URL).unwrap();
        let proxies: Vec<&str> = wiring
            .env
            .iter()
            .filter(|(name, _)| name.to_lowercase().ends_with("_proxy"))
            .map(|(_, value)| &**value)
            .collect();
        let direct = "127.0.0.1,localhost";
        assert_eq!(proxies, [URL, URL, URL, URL, direct, direct], "{agent}");
        let named = |text: &String| text.contains(URL);
        let own = wiring.env.iter().filter(|(name, _)| !name.to_lowercase().ends_with("_proxy"));
        let own = own.map(|(_, value)| value).chain(wiring.files.iter().map(|(_, text)| text));
        assert_eq!(own.filter(|text| named(text)).count(), 1, "{agent}: {wiring:?}");
        assert!(wiring.files.iter().all(|(path, _)| path.is_relative()), "{agent}: {wiring:?}");
    }
    assert_eq!(wiring("guide", URL), None);
}
