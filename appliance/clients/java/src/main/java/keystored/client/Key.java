// One transit key: its actions with octets in and out, for one item, for many, and for more than fit in memory.
package keystored.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import keystored.client.internal.Action;
import keystored.client.internal.Action.Options;
import keystored.client.internal.Actions;
import keystored.client.internal.Sender;
import keystored.client.internal.Stream;

/**
 * One transit key: its actions with octets in and out, for one item, for many, and for more than fit in memory. What its {@code with}
 * methods answer is the same key with an option for all its actions; the appliance refuses what does not fit an action.
 *
 * <p>{@code …Batch} splits the items into requests of at most 1,000 items and 3 MiB and joins the results; {@code …Stream} does the same
 * for any number of items, with bounded memory. Both give a result for each item, in order, and throw only for a whole request.
 */
public final class Key {
  /** Length in octets of the header of sealed data, whatever the wrapped key in it: a rewrap writes over it in place. */
  public static final int SEALED_HEADER_BYTES = Sealed.HEADER_BYTES;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final Actions actions;
  /** null: each stream asks the appliance for a data key. */
  private final DataKeyCache dataKeys;

  Key(Sender sender, String name) {
    this(new Actions(sender, name, Options.NONE), null);
  }

  private Key(Actions actions, DataKeyCache dataKeys) {
    this.actions = actions;
    this.dataKeys = dataKeys;
  }

  /**
   * Derives the key from a context: the same again to decrypt.
   *
   * @param context the context
   * @return the key with the option
   */
  public Key withContext(String context) {
    Options known = actions.options();
    return with(
        new Options(
            context, known.associatedData(), known.keyVersion(), known.hashAlgorithm(), known.prehashed(), known.signatureAlgorithm(), known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Authenticates data with the ciphertext that is no part of it: the same again to decrypt.
   *
   * @param data the data
   * @return the key with the option
   */
  public Key withAssociatedData(byte[] data) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), data, known.keyVersion(), known.hashAlgorithm(), known.prehashed(), known.signatureAlgorithm(), known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Encrypts or signs with a version, in place of the one in use.
   *
   * @param version from 1
   * @return the key with the option
   */
  public Key withKeyVersion(long version) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), version, known.hashAlgorithm(), known.prehashed(), known.signatureAlgorithm(), known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Hashes with an algorithm.
   *
   * @param algorithm {@code sha256}, {@code sha384} or {@code sha512}
   * @return the key with the option
   */
  public Key withHashAlgorithm(String algorithm) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), known.keyVersion(), algorithm, known.prehashed(), known.signatureAlgorithm(), known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Takes data to sign or verify as the finished hash.
   *
   * @return the key with the option
   */
  public Key withPrehashed() {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), known.keyVersion(), known.hashAlgorithm(), true, known.signatureAlgorithm(), known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Chooses the padding of RSA signatures, or Ed25519ph of an Ed25519 key.
   *
   * @param algorithm {@code pkcs1v15}, {@code pss} or {@code ed25519ph}
   * @return the key with the option
   */
  public Key withSignatureAlgorithm(String algorithm) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), known.keyVersion(), known.hashAlgorithm(), known.prehashed(), algorithm, known.marshaling(), known.batchesAtOnce()));
  }

  /**
   * Encodes ECDSA signatures.
   *
   * @param encoding {@code asn1} or {@code jws}
   * @return the key with the option
   */
  public Key withMarshaling(String encoding) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), known.keyVersion(), known.hashAlgorithm(), known.prehashed(), known.signatureAlgorithm(), encoding, known.batchesAtOnce()));
  }

  /**
   * Bounds how many requests of a batch or stream are under way; 4 unless given.
   *
   * @param most from 1
   * @return the key with the option
   */
  public Key withBatchesAtOnce(int most) {
    Options known = actions.options();
    return with(
        new Options(
            known.context(), known.associatedData(), known.keyVersion(), known.hashAlgorithm(), known.prehashed(), known.signatureAlgorithm(), known.marshaling(), most));
  }

  /**
   * Takes the data keys of {@link #seal} and {@link #open} from a cache, and keeps them there.
   *
   * @param cache of this client
   * @return the key with the option
   */
  public Key withDataKeys(DataKeyCache cache) {
    return new Key(actions, cache);
  }

  private Key with(Options options) {
    return new Key(new Actions(actions.sender(), actions.key(), options), dataKeys);
  }

  /**
   * Encrypts.
   *
   * @param plaintext the octets
   * @return the ciphertext
   */
  public String encrypt(byte[] plaintext) {
    return actions.one(Action.ENCRYPT, EncryptItem.of(plaintext));
  }

  /**
   * Decrypts. The problem is {@code decryption-failed} for every ciphertext that does not open, whatever the reason.
   *
   * @param ciphertext the text
   * @return the plaintext
   */
  public byte[] decrypt(String ciphertext) {
    return actions.one(Action.DECRYPT, DecryptItem.of(ciphertext));
  }

  /**
   * Encrypts anew under the newest version of the key. The plaintext stays in the appliance.
   *
   * @param ciphertext the text
   * @return the new ciphertext
   */
  public String rewrap(String ciphertext) {
    return actions.one(Action.REWRAP, DecryptItem.of(ciphertext));
  }

  /**
   * Signs.
   *
   * @param data the octets
   * @return the signature
   */
  public String sign(byte[] data) {
    return actions.one(Action.SIGN, SignItem.of(data));
  }

  /**
   * Says whether a signature fits. Use the options with which it was made.
   *
   * @param data the octets
   * @param signature of the octets
   * @return whether it fits
   */
  public boolean verify(byte[] data, String signature) {
    return actions.one(Action.VERIFY, VerifyItem.of(data, signature));
  }

  /**
   * Answers the keyed hash.
   *
   * @param data the octets
   * @return the hash
   */
  public String hmac(byte[] data) {
    return actions.one(Action.HMAC, SignItem.of(data));
  }

  /**
   * Makes a data key, in clear and encrypted by this key: {@link #decrypt} opens its ciphertext again.
   *
   * @param bits 128, 256 or 512
   * @return the data key
   */
  public DataKey generateDataKey(int bits) {
    return actions.dataKey(bits);
  }

  /**
   * Signs any amount of data with an OpenPGP key, hashed here in constant memory: the detached signature without limit of time.
   *
   * @param source of the data
   * @return the signature in armor
   * @throws IOException of the source
   */
  public String signOpenpgp(InputStream source) throws IOException {
    return actions.signOpenpgp(source, null);
  }

  /**
   * Signs any amount of data with an OpenPGP key, hashed here in constant memory. The token needs {@code execute} of openpgp-trailer and
   * openpgp-sign-digest, and of certify-subkey for a primary key. Of the options of the key, version and hash count.
   *
   * @param source of the data
   * @param expiresAfter how long the signature holds, such as {@code 90d}
   * @return the detached signature in armor
   * @throws IOException of the source
   */
  public String signOpenpgp(InputStream source, String expiresAfter) throws IOException {
    return actions.signOpenpgp(source, expiresAfter);
  }

  /**
   * Encrypts any amount of data in constant memory, under a data key of its own: what is read from the result is a header of 1,024 octets
   * and then an authentic piece for each 64 KiB. The client library of every language opens it. Context and associated data are those of
   * the data key. Closing the result closes the source.
   *
   * @param source of the data
   * @return the sealed data
   * @throws SealedDataException for a wrapped data key that does not fit in the header
   */
  public InputStream seal(InputStream source) throws SealedDataException {
    Options known = actions.options();
    List<Object> name = Arrays.asList("seal", actions.key(), known.context(), known.associatedData() == null ? null : ByteBuffer.wrap(known.associatedData()), known.keyVersion());
    byte[] salt = new byte[32];
    byte[] prefix = new byte[7];
    RANDOM.nextBytes(salt);
    RANDOM.nextBytes(prefix);
    return Sealed.seal(source, dataKey(name, () -> generateDataKey(256)), salt, prefix);
  }

  /**
   * Opens what was sealed. Each octet that is read is authentic and in its place. That nothing is missing is known at the end of the stream,
   * not before: until then, keep what came as unfinished. Closing the result closes the source.
   *
   * @param source of the sealed data
   * @return the data; reading it throws {@link SealedDataException} where it was changed
   * @throws IOException of the source, and {@link SealedDataException} for a header that is none or of other data; the problem
   *     {@code decryption-failed} says that this key did not wrap the data key
   */
  public InputStream open(InputStream source) throws IOException {
    byte[] header = source.readNBytes(SEALED_HEADER_BYTES);
    String wrapped = Sealed.wrappedKeyOf(header);
    Options known = actions.options();
    List<Object> name = Arrays.asList("open", actions.key(), known.context(), known.associatedData() == null ? null : ByteBuffer.wrap(known.associatedData()), wrapped);
    return Sealed.open(source, dataKey(name, () -> new DataKey(decrypt(wrapped), wrapped, 0)).plaintext(), header);
  }

  /**
   * Wraps the data key of sealed data under the newest version of this key.
   *
   * @param header the first {@link #SEALED_HEADER_BYTES} octets
   * @return the new header: write it over the old one
   * @throws SealedDataException for what is no header
   */
  public byte[] rewrapSealed(byte[] header) throws SealedDataException {
    return Sealed.rewrapped(header, rewrap(Sealed.wrappedKeyOf(header)));
  }

  /**
   * Imports a key as a new version, wrapped here under a key of the appliance that opens this import alone: nobody on the way sees it.
   *
   * @param material the PKCS#8 of a private key, as {@code PrivateKey.getEncoded} has it, or the octets of a symmetric key
   */
  public void importWrapped(byte[] material) {
    actions.importWrapped(material);
  }

  private DataKey dataKey(List<Object> name, Supplier<DataKey> source) {
    return dataKeys == null ? source.get() : dataKeys.take(actions.sender(), name, source);
  }

  /**
   * Encrypts the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<String>> encryptBatch(Iterable<EncryptItem> items) {
    return collect(encryptStream(items.iterator()));
  }

  /**
   * Decrypts the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<byte[]>> decryptBatch(Iterable<DecryptItem> items) {
    return collect(decryptStream(items.iterator()));
  }

  /**
   * Rewraps the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<String>> rewrapBatch(Iterable<DecryptItem> items) {
    return collect(rewrapStream(items.iterator()));
  }

  /**
   * Signs the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<String>> signBatch(Iterable<SignItem> items) {
    return collect(signStream(items.iterator()));
  }

  /**
   * Verifies the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<Boolean>> verifyBatch(Iterable<VerifyItem> items) {
    return collect(verifyStream(items.iterator()));
  }

  /**
   * Answers the keyed hashes of the items.
   *
   * @param items any number that fits in memory
   * @return a result for each
   */
  public List<BatchResult<String>> hmacBatch(Iterable<SignItem> items) {
    return collect(hmacStream(items.iterator()));
  }

  /**
   * Encrypts the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<String> encryptStream(Iterator<EncryptItem> items) {
    return new Stream<>(actions, Action.ENCRYPT, items);
  }

  /**
   * Decrypts the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<byte[]> decryptStream(Iterator<DecryptItem> items) {
    return new Stream<>(actions, Action.DECRYPT, items);
  }

  /**
   * Rewraps the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<String> rewrapStream(Iterator<DecryptItem> items) {
    return new Stream<>(actions, Action.REWRAP, items);
  }

  /**
   * Signs the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<String> signStream(Iterator<SignItem> items) {
    return new Stream<>(actions, Action.SIGN, items);
  }

  /**
   * Verifies the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<Boolean> verifyStream(Iterator<VerifyItem> items) {
    return new Stream<>(actions, Action.VERIFY, items);
  }

  /**
   * Answers the keyed hashes of the items as they come.
   *
   * @param items any number
   * @return the results, as they are read
   */
  public BatchStream<String> hmacStream(Iterator<SignItem> items) {
    return new Stream<>(actions, Action.HMAC, items);
  }

  private static <T> List<BatchResult<T>> collect(BatchStream<T> stream) {
    List<BatchResult<T>> results = new ArrayList<>();
    try (stream) {
      while (stream.hasNext()) results.add(stream.next());
    }
    return results;
  }
}
