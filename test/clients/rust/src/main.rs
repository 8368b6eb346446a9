// The story (test/clients/story.ts) by openapi-generator's Rust client, which shows no headers: pages end with a short one.
use keystored_generated::apis::{approles_api, configuration::Configuration, key_actions_api, transit_keys_api, Error};
use keystored_generated::models::*;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variable = |name: &str| std::env::var(name).expect(name);
    let ca = reqwest::Certificate::from_pem(&std::fs::read(variable("KEYSTORED_CA"))?)?;
    let at = Configuration {
        base_path: variable("KEYSTORED_URL"),
        bearer_access_token: Some(variable("KEYSTORED_TOKEN")),
        client: reqwest::Client::builder().tls_certs_only([ca]).build()?,
        ..Configuration::default()
    };

    transit_keys_api::transit_keys_create(&at, TransitKeyCreation::new("made".into()), None).await?;
    let sealed = key_actions_api::transit_keys_encrypt(&at, "made", EncryptRequest::new("c2VjcmV0".into())).await?;
    let opened = key_actions_api::transit_keys_decrypt(&at, "made", DecryptRequest::new(sealed.ciphertext)).await?;

    let item = |plaintext: &str, reference: &str| EncryptBatchItem {
        reference: Some(reference.into()),
        ..EncryptBatchItem::new(plaintext.into())
    };
    let mut items = vec![item("Zmlyc3Q=", "a"), item("c2Vjb25k", "b"), item("dGhpcmQ=", "c")];
    items[2].key_version = Some(99);
    let sealed_batch = key_actions_api::transit_keys_encrypt_batch(&at, "made", EncryptBatchRequest::new(items)).await?;
    let ciphertexts = sealed_batch.batch_results.iter().filter_map(|item| item.ciphertext.clone());
    let ciphertexts = DecryptBatchRequest::new(ciphertexts.map(DecryptBatchItem::new).collect());
    let opened_batch = key_actions_api::transit_keys_decrypt_batch(&at, "made", ciphertexts).await?;
    let mut plaintexts = opened_batch.batch_results.into_iter().map(|item| item.plaintext.unwrap_or_default());
    let batch: Vec<String> = sealed_batch
        .batch_results
        .into_iter()
        .map(|item| {
            let end = item.code.or_else(|| plaintexts.next()).unwrap_or_default();
            format!("{}:{end}", item.reference.unwrap_or_default())
        })
        .collect();

    let signature = key_actions_api::transit_keys_sign(&at, "signing", SignRequest::new("c2lnbmVk".into())).await?.signature;
    let mut verified = Vec::new();
    for text in ["c2lnbmVk", "b3RoZXI="] {
        let request = VerifyRequest { signature: Some(signature.clone()), ..VerifyRequest::new(text.into()) };
        verified.push(key_actions_api::transit_keys_verify(&at, "signing", request).await?.valid);
    }

    let (mut names, mut pages): (Vec<String>, usize) = (Vec::new(), 0);
    loop {
        let after = names.last().map(String::as_str);
        let page = transit_keys_api::transit_keys_list_config(&at, None, after, Some(2), None, None, None, None, None, None, None).await?;
        let is_last = page.len() < 2;
        names.extend(page.into_iter().map(|key| key.name));
        pages += 1;
        if is_last {
            break;
        }
    }

    let merge = TransitKeyMerge { deletion_allowed: Some(true), ..TransitKeyMerge::new() };
    transit_keys_api::transit_keys_merge(&at, "merged", merge, None, None, None).await?;
    let merge = ApproleMerge { token_ttl: Some("4h".into()), ..ApproleMerge::new() };
    approles_api::approles_merge(&at, "merged", merge, None, None, None).await?;
    let key = transit_keys_api::transit_keys_show_config(&at, "merged", None).await?;
    let approle = approles_api::approles_show_config(&at, "merged", None).await?;

    use transit_keys_api::TransitKeysShowConfigError as Refusal;
    let problem = match transit_keys_api::transit_keys_show_config(&at, "absent", None).await {
        // All variants hold the same type, and the first that fits is taken: the status is the one of the answer.
        Err(Error::ResponseError(answer)) => match answer.entity {
            Some(Refusal::Status400(problem)) => json!({ "status": answer.status.as_u16(), "code": problem.code }),
            other => panic!("not a problem: {other:?}"),
        },
        other => panic!("not an answer: {other:?}"),
    };

    println!(
        "{}",
        json!({
            "decrypted": opened.plaintext,
            "batch": batch,
            "failed": sealed_batch.failed,
            "verified": verified,
            "total": names.len(),
            "names": names,
            "pages": pages,
            "merged": {
                "exportable": key.exportable,
                "rotateAfter": key.auto_rotate.and_then(|it| it.rotate_after),
                "minDecryptionVersion": key.min_decryption_version,
                "uses": approle.secret_id_num_uses,
            },
            "problem": problem,
        })
    );
    Ok(())
}
