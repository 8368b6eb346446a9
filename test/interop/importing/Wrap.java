// Wraps for an import as programs in Java do that say nothing of the mask of OAEP, which is SHA-1 then: java Wrap.java WRAPPING-KEY KEYSTORE PASSPHRASE. The key is
// that of the entry "moving" of a key store in PKCS#12.
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;

public class Wrap {
  public static void main(String[] words) throws Exception {
    String pem = Files.readString(Path.of(words[0])).replaceAll("-----[^-]+-----", "");
    var wrappingKey = KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
    char[] passphrase = words[2].toCharArray();
    var key = KeyStore.getInstance(new File(words[1]), passphrase).getKey("moving", passphrase);
    var aes = KeyGenerator.getInstance("AES");
    aes.init(256);
    var transport = aes.generateKey();
    Cipher oaep = Cipher.getInstance("RSA/ECB/OAEPWithSHA-256AndMGF1Padding");
    oaep.init(Cipher.WRAP_MODE, wrappingKey);
    Cipher kwp = Cipher.getInstance("AES/KWP/NoPadding");
    kwp.init(Cipher.WRAP_MODE, transport);
    var wrapped = new ByteArrayOutputStream();
    wrapped.write(oaep.wrap(transport));
    wrapped.write(kwp.wrap(key));
    System.out.write(wrapped.toByteArray());
    System.out.flush();
  }
}
