// Seals to public keys by HPKE with Bouncy Castle, as JWE with Nimbus, and by RSA-OAEP with the JDK alone, and encapsulates with Bouncy Castle:
// java Seal.java hpke|ml-kem-hpke|x-wing|both|ml-kem|jwe|oaep FOLDER. It prints a line for each message: key, two parameters, base64 or the JWE.
import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEEncrypter;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.jwk.JWK;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import org.bouncycastle.crypto.hpke.HPKE;
import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.bouncycastle.jcajce.SecretKeyWithEncapsulation;
import org.bouncycastle.jcajce.spec.KEMGenerateSpec;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

public class Seal {
  private static final Map<String, Short> KEMS =
      Map.of("p256", HPKE.kem_P256_SHA256, "p384", HPKE.kem_P384_SHA384, "p521", HPKE.kem_P521_SHA512, "x25519", HPKE.kem_X25519_SHA256);
  private static final Map<String, Short> ML_KEMS = Map.of("ml-kem-768", HPKE.kem_ML_KEM_768, "ml-kem-1024", HPKE.kem_ML_KEM_1024);
  private static final Map<String, Short> X_WING = Map.of("mlkem768-x25519", HPKE.kem_MLKEM768_X25519);
  private static final Map<String, Short> KDFS =
      Map.of("hkdf-sha256", HPKE.kdf_HKDF_SHA256, "hkdf-sha384", HPKE.kdf_HKDF_SHA384, "hkdf-sha512", HPKE.kdf_HKDF_SHA512);
  private static final Map<String, Short> AEADS =
      Map.of("aes-128-gcm", HPKE.aead_AES_GCM128, "aes-256-gcm", HPKE.aead_AES_GCM256, "chacha20-poly1305", HPKE.aead_CHACHA20_POLY1305);

  public static void main(String[] words) throws Exception {
    Path folder = Path.of(words[1]);
    switch (words[0]) {
      case "hpke" -> hpke(folder, KEMS);
      case "ml-kem-hpke" -> hpke(folder, ML_KEMS);
      case "x-wing" -> hpke(folder, X_WING);
      case "both" -> both(folder);
      case "ml-kem" -> encapsulate(folder);
      case "jwe" -> jwe(folder);
      default -> oaep(folder);
    }
  }

  private static void hpke(Path folder, Map<String, Short> kems) throws Exception {
    for (var kem : kems.entrySet()) {
      AsymmetricKeyParameter key = PublicKeyFactory.createKey(octetsOf(folder.resolve(kem.getKey() + ".pem")));
      for (var kdf : KDFS.entrySet()) {
        for (var aead : AEADS.entrySet()) {
          HPKE suite = new HPKE(HPKE.mode_base, kem.getValue(), kdf.getValue(), aead.getValue());
          byte[] message = sealed(suite, key, "by Bouncy Castle".getBytes());
          print(kem.getKey(), kdf.getKey(), aead.getKey(), Base64.getEncoder().encodeToString(message));
        }
      }
    }
  }

  /** To two keys, one after the other: both are needed to open it. */
  private static void both(Path folder) throws Exception {
    byte[] message = "by Bouncy Castle".getBytes();
    for (var kem : List.of(Map.entry("ml-kem-768", HPKE.kem_ML_KEM_768), Map.entry("x25519", HPKE.kem_X25519_SHA256))) {
      HPKE suite = new HPKE(HPKE.mode_base, kem.getValue(), HPKE.kdf_HKDF_SHA256, HPKE.aead_AES_GCM256);
      message = sealed(suite, PublicKeyFactory.createKey(octetsOf(folder.resolve(kem.getKey() + ".pem"))), message);
    }
    print("both", "hkdf-sha256", "aes-256-gcm", Base64.getEncoder().encodeToString(message));
  }

  private static byte[] sealed(HPKE suite, AsymmetricKeyParameter key, byte[] plaintext) throws Exception {
    var sender = suite.setupBaseS(key, "info".getBytes());
    byte[] ciphertext = sender.seal("bound".getBytes(), plaintext);
    return org.bouncycastle.util.Arrays.concatenate(sender.getEncapsulation(), ciphertext);
  }

  /** By the provider, as programs have it: the secret as ML-KEM gives it, without a KDF. */
  private static void encapsulate(Path folder) throws Exception {
    var provider = new BouncyCastleProvider();
    for (String name : ML_KEMS.keySet()) {
      PublicKey key = KeyFactory.getInstance("ML-KEM", provider).generatePublic(new X509EncodedKeySpec(octetsOf(folder.resolve(name + ".pem"))));
      KeyGenerator generator = KeyGenerator.getInstance("ML-KEM", provider);
      generator.init(new KEMGenerateSpec.Builder(key, "AES", 256).withNoKdf().build(), new SecureRandom());
      var made = (SecretKeyWithEncapsulation) generator.generateKey();
      var encoder = Base64.getEncoder();
      print(name, "secret", encoder.encodeToString(made.getEncoded()), encoder.encodeToString(made.getEncapsulation()));
    }
  }

  private static void jwe(Path folder) throws Exception {
    var agreements = List.of(JWEAlgorithm.ECDH_ES, JWEAlgorithm.ECDH_ES_A128KW, JWEAlgorithm.ECDH_ES_A192KW, JWEAlgorithm.ECDH_ES_A256KW);
    var transports = List.of(JWEAlgorithm.RSA_OAEP_256, JWEAlgorithm.RSA_OAEP_384, JWEAlgorithm.RSA_OAEP_512);
    var methods = List.of(EncryptionMethod.A128GCM, EncryptionMethod.A256GCM, EncryptionMethod.A128CBC_HS256, EncryptionMethod.A256CBC_HS512);
    for (String name : List.of("p256", "p384", "p521", "rsa")) {
      JWK key = JWK.parseFromPEMEncodedObjects(Files.readString(folder.resolve(name + ".pem")));
      boolean rsa = name.equals("rsa");
      for (JWEAlgorithm algorithm : rsa ? transports : agreements) {
        for (EncryptionMethod method : methods) {
          JWEEncrypter encrypter = rsa ? new RSAEncrypter(key.toRSAKey()) : new ECDHEncrypter(key.toECKey());
          JWEObject message = new JWEObject(new JWEHeader(algorithm, method), new Payload("by Nimbus"));
          message.encrypt(encrypter);
          print(name, algorithm.getName(), method.getName(), message.serialize());
        }
      }
    }
  }

  /** With the parameters that the name of a transformation has by itself, which mask with SHA-1, and with those of one hash alone. */
  private static void oaep(Path folder) throws Exception {
    PublicKey key = KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(octetsOf(folder.resolve("rsa.pem"))));
    for (String hash : List.of("SHA-1", "SHA-256", "SHA-384", "SHA-512")) {
      Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPWith" + hash + "AndMGF1Padding");
      cipher.init(Cipher.ENCRYPT_MODE, key);
      print("rsa", hash, "SHA-1", Base64.getEncoder().encodeToString(cipher.doFinal("by the JDK".getBytes())));
      if (hash.equals("SHA-1")) continue;
      var label = new PSource.PSpecified("label".getBytes());
      cipher.init(Cipher.ENCRYPT_MODE, key, new OAEPParameterSpec(hash, "MGF1", new MGF1ParameterSpec(hash), label));
      print("rsa", hash, hash, Base64.getEncoder().encodeToString(cipher.doFinal("by the JDK".getBytes())));
    }
  }

  private static byte[] octetsOf(Path file) throws Exception {
    return Base64.getMimeDecoder().decode(Files.readString(file).replaceAll("-----[^-]+-----", ""));
  }

  private static void print(String... words) {
    System.out.println(String.join(" ", words));
  }
}
