// A document of the API. Made by npm run clients; do not edit.
package keystored.client.api;

import com.fasterxml.jackson.annotation.JsonProperty;
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
 * @param reference Echoed from the request. May be null: absent.
 */
public record TransitKeyBatchItem(
    @JsonProperty("name") String name,
    @JsonProperty("cipher") Cipher cipher,
    @JsonProperty("distribute") TransitKeyBatchItemDistribute distribute,
    @JsonProperty("exportable") Boolean exportable,
    @JsonProperty("allow-plaintext-backup") Boolean allowPlaintextBackup,
    @JsonProperty("deletion-allowed") Boolean deletionAllowed,
    @JsonProperty("derived") Boolean derived,
    @JsonProperty("convergent-encryption") Boolean convergentEncryption,
    @JsonProperty("custody") Custody custody,
    @JsonProperty("public-key") String publicKey,
    @JsonProperty("min-encryption-version") Long minEncryptionVersion,
    @JsonProperty("min-decryption-version") Long minDecryptionVersion,
    @JsonProperty("auto-rotate") TransitKeyBatchItemAutoRotate autoRotate,
    @JsonProperty("openpgp-user-id") String openpgpUserId,
    @JsonProperty("openpgp-primary") String openpgpPrimary,
    @JsonProperty("openpgp-key-usage") List<TransitKeyOpenpgpKeyUsageItem> openpgpKeyUsage,
    @JsonProperty("labels") Map<String, String> labels,
    @JsonProperty("reference") String reference) {
  /**
   * Starts to make a document; what is not given is absent.
   *
   * @param name Name of the transit key.
   * @return a builder
   */
  public static Builder builder(String name) {
    Builder builder = new Builder();
    builder.name = name;
    return builder;
  }

  /** Makes the document. */
  public static final class Builder {
    private String name;
    private Cipher cipher;
    private TransitKeyBatchItemDistribute distribute;
    private Boolean exportable;
    private Boolean allowPlaintextBackup;
    private Boolean deletionAllowed;
    private Boolean derived;
    private Boolean convergentEncryption;
    private Custody custody;
    private String publicKey;
    private Long minEncryptionVersion;
    private Long minDecryptionVersion;
    private TransitKeyBatchItemAutoRotate autoRotate;
    private String openpgpUserId;
    private String openpgpPrimary;
    private List<TransitKeyOpenpgpKeyUsageItem> openpgpKeyUsage;
    private Map<String, String> labels;
    private String reference;

    private Builder() {}

    /**
     * What the key is made of.
     *
     * @param value null: absent
     * @return this
     */
    public Builder cipher(Cipher value) {
      cipher = value;
      return this;
    }

    /**
     * Distribution of the key.
     *
     * @param value null: absent
     * @return this
     */
    public Builder distribute(TransitKeyBatchItemDistribute value) {
      distribute = value;
      return this;
    }

    /**
     * Whether export may answer key material.
     *
     * @param value null: absent
     * @return this
     */
    public Builder exportable(Boolean value) {
      exportable = value;
      return this;
    }

    /**
     * Whether backup may answer the key in clear.
     *
     * @param value null: absent
     * @return this
     */
    public Builder allowPlaintextBackup(Boolean value) {
      allowPlaintextBackup = value;
      return this;
    }

    /**
     * Must be true before the key can be deleted.
     *
     * @param value null: absent
     * @return this
     */
    public Builder deletionAllowed(Boolean value) {
      deletionAllowed = value;
      return this;
    }

    /**
     * A key of its own for each context; symmetric ciphers only.
     *
     * @param value null: absent
     * @return this
     */
    public Builder derived(Boolean value) {
      derived = value;
      return this;
    }

    /**
     * The same plaintext in the same context gives the same ciphertext; derived keys only.
     *
     * @param value null: absent
     * @return this
     */
    public Builder convergentEncryption(Boolean value) {
      convergentEncryption = value;
      return this;
    }

    /**
     * Where the key lives: as a wrapped blob, or as an object in the token.
     *
     * @param value null: absent
     * @return this
     */
    public Builder custody(Custody value) {
      custody = value;
      return this;
    }

    /**
     * PEM public key: makes a key that only verifies.
     *
     * @param value null: absent
     * @return this
     */
    public Builder publicKey(String value) {
      publicKey = value;
      return this;
    }

    /**
     * Older versions do not encrypt or sign; 0: no restriction.
     *
     * @param value null: absent
     * @return this
     */
    public Builder minEncryptionVersion(Long value) {
      minEncryptionVersion = value;
      return this;
    }

    /**
     * Older versions do not decrypt or verify; 0: no restriction.
     *
     * @param value null: absent
     * @return this
     */
    public Builder minDecryptionVersion(Long value) {
      minDecryptionVersion = value;
      return this;
    }

    /**
     * Rotates the key by itself; a merge cannot remove it, a replacement can.
     *
     * @param value null: absent
     * @return this
     */
    public Builder autoRotate(TransitKeyBatchItemAutoRotate value) {
      autoRotate = value;
      return this;
    }

    /**
     * Makes the key an OpenPGP primary key with this User ID.
     *
     * @param value null: absent
     * @return this
     */
    public Builder openpgpUserId(String value) {
      openpgpUserId = value;
      return this;
    }

    /**
     * Makes the key an OpenPGP subkey, bound to the primary key of this name.
     *
     * @param value null: absent
     * @return this
     */
    public Builder openpgpPrimary(String value) {
      openpgpPrimary = value;
      return this;
    }

    /**
     * What an OpenPGP subkey is for.
     *
     * @param value null: absent
     * @return this
     */
    public Builder openpgpKeyUsage(List<TransitKeyOpenpgpKeyUsageItem> value) {
      openpgpKeyUsage = value;
      return this;
    }

    /**
     * Names and values to find and group entries by, as in Kubernetes but without prefixes: up to 64, each name
     * and value at most 63 letters, digits, ".", "_" and "-". They are no secrets.
     *
     * @param value null: absent
     * @return this
     */
    public Builder labels(Map<String, String> value) {
      labels = value;
      return this;
    }

    /**
     * Echoed from the request.
     *
     * @param value null: absent
     * @return this
     */
    public Builder reference(String value) {
      reference = value;
      return this;
    }

    /**
     * Makes the document.
     *
     * @return the document
     */
    public TransitKeyBatchItem build() {
      return new TransitKeyBatchItem(
          name,
          cipher,
          distribute,
          exportable,
          allowPlaintextBackup,
          deletionAllowed,
          derived,
          convergentEncryption,
          custody,
          publicKey,
          minEncryptionVersion,
          minDecryptionVersion,
          autoRotate,
          openpgpUserId,
          openpgpPrimary,
          openpgpKeyUsage,
          labels,
          reference);
    }
  }
}
