// The story of test/interop/vault-libraries.test.ts by vaultrs: prints one line of JSON.
use serde_json::json;
use std::env::var;
use vaultrs::api::transit::requests::{
    CreateKeyRequestBuilder, DataKeyType, UpdateKeyConfigurationRequestBuilder, VerifySignedDataRequestBuilder,
};
use vaultrs::api::transit::{responses::ReadKeyData, KeyType};
use vaultrs::client::{Client, VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::transit::{data, generate, key};
use vaultrs::{auth::approle, sys, token};

const FIRST: &str = "Zmlyc3Q=";
const SIGNED: &str = "c2lnbmVk";
const OTHER: &str = "b3RoZXI=";

fn refusal<T: std::fmt::Debug>(result: Result<T, ClientError>) -> String {
    match result {
        Ok(value) => format!("not refused: {value:?}"),
        Err(ClientError::APIError { code, errors }) => format!("{code}: {}", errors.join("; ")),
        Err(other) => format!("{other}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let name = var("KEY").unwrap();
    let (role, secret) = (var("ROLE_ID").unwrap(), var("SECRET_ID").unwrap());
    let mut client = VaultClient::new(VaultClientSettingsBuilder::default().build().unwrap()).unwrap();
    let health = sys::health(&client).await.unwrap();
    let wrong = refusal(approle::login(&client, "approle", &role, "wrong").await);
    let login = approle::login(&client, "approle", &role, &secret).await.unwrap();
    client.set_token(&login.client_token);
    let me = token::lookup_self(&client).await.unwrap();
    let renewed = token::renew_self(&client, Some("30m")).await.unwrap();
    let mounts = sys::mount::list(&client).await.unwrap();

    key::create(&client, "transit", &name, None).await.unwrap();
    let ecdsa = format!("{name}-ecdsa");
    let mut kind = CreateKeyRequestBuilder::default();
    key::create(&client, "transit", &ecdsa, Some(kind.key_type(KeyType::EcdsaP256))).await.unwrap();
    let keys = key::list(&client, "transit").await.unwrap().keys;
    let mine: Vec<_> = keys.iter().filter(|one| one.starts_with(&name)).collect();
    let first = data::encrypt(&client, "transit", &name, FIRST, None).await.unwrap().ciphertext;
    key::rotate(&client, "transit", &name).await.unwrap();
    let rewrapped = data::rewrap(&client, "transit", &name, &first, None).await.unwrap().ciphertext;
    let mut opened = vec![];
    for sealed in [&first, &rewrapped] {
        opened.push(data::decrypt(&client, "transit", &name, sealed, None).await.unwrap().plaintext == FIRST);
    }
    let data_key = generate::data_key(&client, "transit", &name, DataKeyType::Plaintext, None).await.unwrap();
    let plain = data::decrypt(&client, "transit", &name, &data_key.ciphertext, None).await.unwrap();
    let signature = data::sign(&client, "transit", &ecdsa, SIGNED, None).await.unwrap().signature;
    let mut verified = vec![];
    for text in [SIGNED, OTHER] {
        let mut given = VerifySignedDataRequestBuilder::default();
        given.signature(signature.clone());
        verified.push(data::verify(&client, "transit", &ecdsa, text, Some(&mut given)).await.unwrap().valid);
    }
    let mac = generate::hmac(&client, "transit", &name, SIGNED, None).await.unwrap().hmac;
    let mut settings = UpdateKeyConfigurationRequestBuilder::default();
    settings.min_decryption_version(Some(2)).deletion_allowed(Some(true));
    key::update(&client, "transit", &name, Some(&mut settings)).await.unwrap();
    let read = key::read(&client, "transit", &name).await.unwrap();
    let public = key::read(&client, "transit", &ecdsa).await.unwrap();
    let too_old = refusal(data::decrypt(&client, "transit", &name, &first, None).await);
    key::delete(&client, "transit", &name).await.unwrap();
    let gone = refusal(key::read(&client, "transit", &name).await);
    token::revoke_self(&client).await.unwrap();

    let report = json!({
        "service": [health.initialized, health.sealed],
        "login": [wrong, login.renewable, renewed.lease_duration, me.display_name],
        "mounts": mounts["transit/"].mount_type,
        "keys": mine,
        "prefixes": [first[..9], rewrapped[..9]],
        "opened": opened,
        "dataKey": data_key.plaintext == Some(plain.plaintext),
        "verified": verified,
        "mac": mac.starts_with("vault:v2:"),
        "read": [read.min_decryption_version == 2, matches!(read.keys, ReadKeyData::Symmetric(_))],
        "public": matches!(public.keys, ReadKeyData::Asymmetric(_)),
        "refused": [too_old, gone, refusal(token::lookup_self(&client).await)],
    });
    println!("{report}");
}
