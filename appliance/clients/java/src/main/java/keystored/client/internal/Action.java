// The actions on a transit key that take one item or many: what an item is on the wire, and what its result means.
package keystored.client.internal;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.function.Function;
import keystored.client.DecryptItem;
import keystored.client.EncryptItem;
import keystored.client.SignItem;
import keystored.client.VerifyItem;

/**
 * An action on a transit key.
 *
 * @param path last part of the path
 * @param wire makes an item of the API
 * @param read takes the result out of an answer; null when it is not there
 * @param <I> of the items
 * @param <R> of the results
 */
public record Action<I, R>(String path, Function<I, Wire> wire, Function<Result, R> read) {
  /** Encryption. */
  public static final Action<EncryptItem, String> ENCRYPT =
      new Action<>("encrypt", item -> Wire.plaintext(item.plaintext()).bound(item.context(), item.associatedData(), item.reference()), Result::ciphertext);

  /** Decryption. */
  public static final Action<DecryptItem, byte[]> DECRYPT = new Action<>("decrypt", Wire::ciphertext, Result::plaintext);

  /** Rewrapping. */
  public static final Action<DecryptItem, String> REWRAP = new Action<>("rewrap", Wire::ciphertext, Result::ciphertext);

  /** Signing. */
  public static final Action<SignItem, String> SIGN =
      new Action<>("sign", item -> Wire.text(item.data(), null).bound(null, null, item.reference()), Result::signature);

  /** Verification. */
  public static final Action<VerifyItem, Boolean> VERIFY =
      new Action<>("verify", item -> Wire.text(item.data(), item.signature()).bound(null, null, item.reference()), Result::valid);

  /** Keyed hashing. */
  public static final Action<SignItem, String> HMAC =
      new Action<>("hmac", item -> Wire.plaintext(item.data()).bound(null, null, item.reference()), Result::hmac);

  private static final String KEYS = "/v1/state/keystore/transit-keys/{}/";

  Operation single() {
    return new Operation("POST", KEYS + path, Link.JSON, Operation.Trait.IDEMPOTENT);
  }

  Operation batch() {
    return new Operation("POST", KEYS + path + "-batch", Link.JSON, Operation.Trait.IDEMPOTENT, Operation.Trait.PARTIAL);
  }

  /** An item of any action, as the API has it; octets become base64. */
  public record Wire(
      @JsonProperty("plaintext") byte[] plaintext,
      @JsonProperty("ciphertext") String ciphertext,
      @JsonProperty("text") byte[] text,
      @JsonProperty("signature") String signature,
      @JsonProperty("context") String context,
      @JsonProperty("associated-data") byte[] associatedData,
      @JsonProperty("key-version") Long keyVersion,
      @JsonProperty("hash-algorithm") String hashAlgorithm,
      @JsonProperty("prehashed") Boolean prehashed,
      @JsonProperty("signature-algorithm") String signatureAlgorithm,
      @JsonProperty("marshaling") String marshaling,
      @JsonProperty("reference") String reference) {
    static Wire plaintext(byte[] octets) {
      return new Wire(octets, null, null, null, null, null, null, null, null, null, null, null);
    }

    static Wire text(byte[] octets, String signature) {
      return new Wire(null, null, octets, signature, null, null, null, null, null, null, null, null);
    }

    static Wire ciphertext(DecryptItem item) {
      Wire bare = new Wire(null, item.ciphertext(), null, null, null, null, null, null, null, null, null, null);
      return bare.bound(item.context(), item.associatedData(), item.reference());
    }

    Wire bound(String to, byte[] data, String named) {
      return new Wire(
          plaintext, ciphertext, text, signature, to, data, keyVersion, hashAlgorithm, prehashed, signatureAlgorithm, marshaling, named);
    }

    /** With the options of a key, which an item may override. */
    Wire complete(Options options) {
      return new Wire(
          plaintext,
          ciphertext,
          text,
          signature,
          context == null ? options.context() : context,
          associatedData == null ? options.associatedData() : associatedData,
          options.keyVersion(),
          options.hashAlgorithm(),
          options.prehashed(),
          options.signatureAlgorithm(),
          options.marshaling(),
          reference);
    }
  }

  /** What the actions on a key may be told; null leaves out. */
  public record Options(
      String context,
      byte[] associatedData,
      Long keyVersion,
      String hashAlgorithm,
      Boolean prehashed,
      String signatureAlgorithm,
      String marshaling,
      int batchesAtOnce) {
    /** The options of a key that was told nothing. */
    public static final Options NONE = new Options(null, null, null, null, null, null, null, 4);
  }

  /** The answer to any action, or one result of a batch. */
  public record Result(
      @JsonProperty("plaintext") byte[] plaintext,
      @JsonProperty("ciphertext") String ciphertext,
      @JsonProperty("signature") String signature,
      @JsonProperty("valid") Boolean valid,
      @JsonProperty("hmac") String hmac,
      @JsonProperty("key-version") Long keyVersion,
      @JsonProperty("status") Long status,
      @JsonProperty("code") String code,
      @JsonProperty("error-message") String errorMessage) {}
}
