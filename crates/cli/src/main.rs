//! The one binary.

mod guide;

fn main() -> std::process::ExitCode {
    guide::run()
}
