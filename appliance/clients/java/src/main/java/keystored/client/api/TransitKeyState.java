// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A document of the API.
 *
 * @param name Name of the transit key.
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
 * @param distributionStatus Distribution as it is. May be null: absent.
 * @param defaultEncryptionVersion 0: the newest version; else the one in use while the newest waits for
 * activate-after. May be null: absent.
 * @param latestVersion Newest version. May be null: absent.
 * @param oldestVersion Oldest version that was not trimmed. May be null: absent.
 * @param creationTime When the key was made. May be null: absent.
 * @param supportsEncryption Whether keys of this cipher encrypt. May be null: absent.
 * @param supportsDecryption Whether keys of this cipher decrypt. May be null: absent.
 * @param supportsDerivation Whether keys of this cipher can be derived per context. May be null: absent.
 * @param supportsSigning Whether keys of this cipher sign. May be null: absent.
 * @param actions Actions that the key can do as it is. Policies, and the life of its versions, decide besides.
 * May be null: absent.
 * @param keys Per version: the public key; of a symmetric key a marker, the microseconds since 1970 at which it
 * was made. It is no key material. `versions` is where to look for what is known of a version. May be null:
 * absent.
 * @param usage Per version: how often it was used. May be null: absent.
 * @param versions Per version: what it may do, since when and until when. May be null: absent.
 * @param rotates When auto-rotate makes the next version. May be null: absent.
 */
public record TransitKeyState(
    @JsonProperty("name") String name,
    @JsonProperty("cipher") Cipher cipher,
    @JsonProperty("distribute") TransitKeyDistribute distribute,
    @JsonProperty("exportable") Boolean exportable,
    @JsonProperty("allow-plaintext-backup") Boolean allowPlaintextBackup,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("derived") Boolean derived,
    @JsonProperty("convergent-encryption") Boolean convergentEncryption,
    @JsonProperty("custody") Custody custody,
    @JsonProperty("public-key") String publicKey,
    @JsonProperty("min-encryption-version") Long minEncryptionVersion,
    @JsonProperty("min-decryption-version") Long minDecryptionVersion,
    @JsonProperty("auto-rotate") TransitKeyAutoRotate autoRotate,
    @JsonProperty("openpgp-user-id") String openpgpUserId,
    @JsonProperty("openpgp-primary") String openpgpPrimary,
    @JsonProperty("openpgp-key-usage") List<TransitKeyOpenpgpKeyUsageItem> openpgpKeyUsage,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("distribution-status") TransitKeyDistributionStatus distributionStatus,
    @JsonProperty("default-encryption-version") Long defaultEncryptionVersion,
    @JsonProperty("latest-version") Long latestVersion,
    @JsonProperty("oldest-version") Long oldestVersion,
    @JsonProperty("creation-time") Instant creationTime,
    @JsonProperty("supports-encryption") Boolean supportsEncryption,
    @JsonProperty("supports-decryption") Boolean supportsDecryption,
    @JsonProperty("supports-derivation") Boolean supportsDerivation,
    @JsonProperty("supports-signing") Boolean supportsSigning,
    @JsonProperty("actions") List<String> actions,
    @JsonProperty("keys") Map<String, String> keys,
    @JsonProperty("usage") Map<String, TransitKeyUsage> usage,
    @JsonProperty("versions") Map<String, TransitKeyVersion> versions,
    @JsonProperty("rotates") Instant rotates) {
}
