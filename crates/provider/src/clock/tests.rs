//! Time that passes by itself and by hand.

use super::*;

#[tokio::test]
async fn by_hand_it_stands_until_it_jumps() {
    let clock = Clock::new(Passing::ByHand);
    let waiting = async {
        clock.until(100).await;
        clock.now_ms()
    };
    let jumping = async {
        for by_ms in [60, 39, 1] {
            tokio::task::yield_now().await;
            clock.jump(by_ms);
        }
    };
    let (passed_ms, ()) = tokio::join!(waiting, jumping);
    assert_eq!(passed_ms, 100);
}

#[tokio::test]
async fn by_itself_it_runs_and_can_jump() {
    let clock = Clock::new(Passing::ByItself);
    clock.until(1).await;
    assert!(clock.now_ms() >= 1);
    clock.jump(3_600_000);
    assert!(clock.now_ms() >= 3_600_001);
}
