// Sealed data, format 1 (appliance/docs/use/sealed-data.md): a header, then pieces of AES-256-GCM in the STREAM construction.
package keystored.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Sealed data: its header and its pieces. */
final class Sealed {
  static final int HEADER_BYTES = 1_024;
  static final int PIECE_BYTES = 65_536;
  static final int TAG_BYTES = 16;
  private static final byte[] MAGIC = "KSEALED\u0001".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] INFO = "keystored sealed data 1".getBytes(StandardCharsets.US_ASCII);
  private static final int SALT_AT = 8;
  private static final int PREFIX_AT = 40;
  private static final int COMMITMENT_AT = 47;
  private static final int LENGTH_AT = 79;
  private static final int WRAPPED_AT = 81;

  private Sealed() {}

  /** Overwrites the data key. Salt (32 octets) and prefix (7) must be new for each stream. */
  static InputStream seal(InputStream source, DataKey dataKey, byte[] salt, byte[] prefix) throws SealedDataException {
    Derived keys = derive(dataKey.plaintext(), salt);
    byte[] header = new byte[HEADER_BYTES];
    ByteBuffer.wrap(header).put(MAGIC).put(salt).put(prefix).put(keys.commitment);
    putWrappedKey(header, dataKey.ciphertext());
    return new SequenceInputStream(new ByteArrayInputStream(header), new Pieces(source, Cipher.ENCRYPT_MODE, keys.pieceKey, header));
  }

  /** Overwrites the data key. */
  static InputStream open(InputStream source, byte[] dataKey, byte[] header) throws SealedDataException {
    Derived keys = derive(dataKey, Arrays.copyOfRange(header, SALT_AT, PREFIX_AT));
    if (!MessageDigest.isEqual(keys.commitment, Arrays.copyOfRange(header, COMMITMENT_AT, LENGTH_AT))) {
      throw new SealedDataException(
          "the wrapped key of the header is not the one that sealed this: the header is of other data, or changed");
    }
    return new Pieces(source, Cipher.DECRYPT_MODE, keys.pieceKey, header);
  }

  static byte[] rewrapped(byte[] header, String wrappedKey) throws SealedDataException {
    byte[] rewrapped = Arrays.copyOf(Arrays.copyOf(header, LENGTH_AT), HEADER_BYTES);
    putWrappedKey(rewrapped, wrappedKey);
    return rewrapped;
  }

  private static void putWrappedKey(byte[] header, String wrappedKey) throws SealedDataException {
    byte[] octets = wrappedKey.getBytes(StandardCharsets.UTF_8);
    if (!isPrintable(octets) || octets.length > HEADER_BYTES - WRAPPED_AT) {
      throw new SealedDataException("the wrapped data key must be 1 to " + (HEADER_BYTES - WRAPPED_AT) + " ASCII characters");
    }
    ByteBuffer.wrap(header).position(LENGTH_AT).putShort((short) octets.length).put(octets);
  }

  /** Throws SealedDataException for what is no header of this format. */
  static String wrappedKeyOf(byte[] header) throws SealedDataException {
    if (header.length != HEADER_BYTES) {
      throw new SealedDataException("the header has " + header.length + " octets of " + HEADER_BYTES + ": it is cut off");
    }
    if (!Arrays.equals(header, 0, SALT_AT, MAGIC, 0, SALT_AT)) throw new SealedDataException("this is not sealed data of format 1");
    int end = WRAPPED_AT + Short.toUnsignedInt(ByteBuffer.wrap(header).getShort(LENGTH_AT));
    boolean fits = end <= HEADER_BYTES && Arrays.mismatch(header, end, HEADER_BYTES, new byte[HEADER_BYTES], 0, HEADER_BYTES - end) < 0;
    if (!fits || !isPrintable(Arrays.copyOfRange(header, WRAPPED_AT, end))) throw new SealedDataException("the header is damaged");
    return new String(header, WRAPPED_AT, end - WRAPPED_AT, StandardCharsets.US_ASCII);
  }

  private static boolean isPrintable(byte[] octets) {
    for (byte octet : octets) if (octet < '!' || octet > '~') return false;
    return octets.length > 0;
  }

  private record Derived(SecretKeySpec pieceKey, byte[] commitment) {}

  /** HKDF-SHA-256 (RFC 5869) to the key of the pieces and what commits to the data key, which it overwrites. */
  private static Derived derive(byte[] dataKey, byte[] salt) throws SealedDataException {
    try {
      if (dataKey.length != 32) {
        throw new SealedDataException("the wrapped key of the header is not a data key of 256 bits, but of " + dataKey.length * 8);
      }
      byte[] extracted = hmac(salt, dataKey);
      byte[] pieceKey = hmac(extracted, INFO, new byte[] {1});
      byte[] commitment = hmac(extracted, pieceKey, INFO, new byte[] {2});
      SecretKeySpec key = new SecretKeySpec(pieceKey, "AES");
      Arrays.fill(pieceKey, (byte) 0);
      return new Derived(key, commitment);
    } finally {
      Arrays.fill(dataKey, (byte) 0);
    }
  }

  private static byte[] hmac(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      for (byte[] part : parts) mac.update(part);
      return mac.doFinal();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("this Java has no HMAC-SHA-256", impossible);
    }
  }

  /** Reads a source piece by piece and gives what becomes of each. */
  private static final class Pieces extends InputStream {
    private final InputStream source;
    private final int mode;
    private final SecretKeySpec key;
    private final byte[] header;
    private final Cipher cipher;
    /** A piece and one octet more: without it, the piece is the last. */
    private final byte[] buffer;
    private final byte[] whole = new byte[PIECE_BYTES + TAG_BYTES];
    private int held;
    private long number;
    private int from;
    private int to;
    private boolean isAtEnd;
    private SealedDataException failure;

    Pieces(InputStream source, int mode, SecretKeySpec key, byte[] header) {
      this.source = source;
      this.mode = mode;
      this.key = key;
      this.header = header;
      this.buffer = new byte[PIECE_BYTES + (mode == Cipher.ENCRYPT_MODE ? 0 : TAG_BYTES) + 1];
      try {
        this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
      } catch (GeneralSecurityException impossible) {
        throw new IllegalStateException("this Java has no AES-GCM", impossible);
      }
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] into, int at, int most) throws IOException {
      if (most == 0) return 0;
      if (failure != null) throw failure;
      try {
        while (from == to && !isAtEnd) next();
      } catch (SealedDataException found) {
        failure = found;
        throw found;
      }
      if (from == to) return -1;
      int count = Math.min(most, to - from);
      System.arraycopy(whole, from, into, at, count);
      from += count;
      return count;
    }

    private void next() throws IOException {
      int size = buffer.length - 1;
      int count = held + source.readNBytes(buffer, held, buffer.length - held);
      boolean isLast = count <= size;
      if (number > 0xffff_ffffL) {
        throw new SealedDataException("a stream has at most 4294967296 pieces of " + PIECE_BYTES + " octets: seal the rest as another");
      }
      byte[] nonce = new byte[12];
      ByteBuffer.wrap(nonce).put(header, PREFIX_AT, COMMITMENT_AT - PREFIX_AT).putInt((int) number).put((byte) (isLast ? 1 : 0));
      number++;
      from = 0;
      to = 0;
      // Without a tag, Java says that it lacks room for the plaintext.
      if (mode == Cipher.DECRYPT_MODE && count < TAG_BYTES) throw changed();
      try {
        cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * 8, nonce));
        cipher.updateAAD(header, 0, LENGTH_AT);
        to = cipher.doFinal(buffer, 0, isLast ? count : size, whole, 0);
      } catch (AEADBadTagException changed) {
        throw changed();
      } catch (GeneralSecurityException failed) {
        throw new IllegalStateException("AES-GCM failed", failed);
      }
      if (to == 0 && number > 1) throw new SealedDataException("piece " + number + " is empty");
      isAtEnd = isLast;
      if (isLast) return;
      buffer[0] = buffer[size];
      held = 1;
    }

    private SealedDataException changed() {
      return new SealedDataException("piece " + number + " is not as it was sealed: changed, moved, cut off or extended");
    }

    /** Closes the source. */
    @Override
    public void close() throws IOException {
      source.close();
    }
  }
}
