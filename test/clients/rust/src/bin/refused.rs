// Must not compile: a misspelt field with a value of another type.
use keystored_generated::models::EncryptRequest;

fn main() {
    let _ = EncryptRequest { plaintxt: 5, ..Default::default() };
}
