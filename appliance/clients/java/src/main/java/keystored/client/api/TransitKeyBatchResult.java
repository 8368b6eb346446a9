// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import keystored.client.ProblemException;

/**
 * A document of the API.
 *
 * @param name Name of the transit key. May be null: absent.
 * @param cipher What the key is made of. May be null: absent.
 * @param distribute Distribution of the key. May be null: absent.
 * @param exportable Whether export may answer key material. May be null: absent.
 * @param allowPlaintextBackup Whether backup may answer the key in clear. May be null: absent.
 * @param deletionAllowed Must be true before the key can be deleted. May be null: absent.
 * @param derived A key of its own for each context; symmetric ciphers only. May be null: absent.
 * @param convergentEncryption The same plaintext in the same context gives the same ciphertext; derived keys
 * only. May be null: absent.
 * @param custody Where the key lives: as a wrapped blob, or as an object in the token. May be null: absent.
 * @param publicKey PEM public key: makes a key that only verifies. May be null: absent.
 * @param minEncryptionVersion Older versions do not encrypt or sign; 0: no restriction. May be null: absent.
 * @param minDecryptionVersion Older versions do not decrypt or verify; 0: no restriction. May be null: absent.
 * @param autoRotate Rotates the key by itself; a merge cannot remove it, a replacement can. May be null: absent.
 * @param openpgpUserId Makes the key an OpenPGP primary key with this User ID. May be null: absent.
 * @param openpgpPrimary Makes the key an OpenPGP subkey, bound to the primary key of this name. May be null:
 * absent.
 * @param openpgpKeyUsage What an OpenPGP subkey is for. May be null: absent.
 * @param labels Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64,
 * each name and value at most 63 letters, digits, ".", "_" and "-". They are no secrets. May be null: absent.
 * @param reference Echoed from the request. May be null: absent.
 * @param status Of an entry that failed: the HTTP status it would have had. May be null: absent.
 * @param code Of an entry that failed: the error code. May be null: absent.
 * @param errorMessage Of an entry that failed: why. May be null: absent.
 */
public record TransitKeyBatchResult(
    @JsonProperty("name") String name,
    @JsonProperty("cipher") Cipher cipher,
    @JsonProperty("distribute") TransitKeyBatchResultDistribute distribute,
    @JsonProperty("exportable") Boolean exportable,
    @JsonProperty("allow-plaintext-backup") Boolean allowPlaintextBackup,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("derived") Boolean derived,
    @JsonProperty("convergent-encryption") Boolean convergentEncryption,
    @JsonProperty("custody") Custody custody,
    @JsonProperty("public-key") String publicKey,
    @JsonProperty("min-encryption-version") Long minEncryptionVersion,
    @JsonProperty("min-decryption-version") Long minDecryptionVersion,
    @JsonProperty("auto-rotate") TransitKeyBatchResultAutoRotate autoRotate,
    @JsonProperty("openpgp-user-id") String openpgpUserId,
    @JsonProperty("openpgp-primary") String openpgpPrimary,
    @JsonProperty("openpgp-key-usage") List<TransitKeyOpenpgpKeyUsageItem> openpgpKeyUsage,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("reference") String reference,
    @JsonProperty("status") Long status,
    @JsonProperty("code") String code,
    @JsonProperty("error-message") String errorMessage) {
  /**
   * Answers why the item failed.
   *
   * @return null when it did not
   */
  public ProblemException problem() {
    return code == null ? null : ProblemException.ofItem(status, code, errorMessage);
  }
}
