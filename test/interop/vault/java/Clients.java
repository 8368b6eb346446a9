// The story of test/interop/vault-libraries.test.ts by Spring Vault, or with "driver" by vault-java-driver: prints one line of JSON.
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.jopenlibs.vault.SslConfig;
import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.vault.authentication.AppRoleAuthentication;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions.RoleId;
import org.springframework.vault.authentication.AppRoleAuthenticationOptions.SecretId;
import org.springframework.vault.authentication.LifecycleAwareSessionManager;
import org.springframework.vault.client.ClientHttpRequestFactoryFactory;
import org.springframework.vault.client.RestTemplateBuilder;
import org.springframework.vault.client.VaultClients;
import org.springframework.vault.client.VaultEndpoint;
import org.springframework.vault.core.VaultTemplate;
import org.springframework.vault.support.Ciphertext;
import org.springframework.vault.support.ClientOptions;
import org.springframework.vault.support.Plaintext;
import org.springframework.vault.support.SslConfiguration;
import org.springframework.vault.support.VaultCertificateRequest;
import org.springframework.vault.support.VaultTransitContext;
import org.springframework.vault.support.VaultTransitKeyConfiguration;
import org.springframework.vault.support.VaultTransitKeyCreationRequest;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

public class Clients {
  static final Map<String, Object> report = new LinkedHashMap<>();
  static final String name = System.getenv("KEY");

  public static void main(String[] args) throws Exception {
    if (args.length > 0) byDriver();
    else bySpring();
    System.out.println(new ObjectMapper().writeValueAsString(report));
    System.exit(0);
  }

  interface Attempt {
    Object make() throws Exception;
  }

  static String refusal(Attempt attempt) {
    try {
      return "not refused: " + attempt.make();
    } catch (VaultException refused) {
      return refused.getHttpStatusCode() + ": " + refused.getMessage();
    } catch (Exception refused) {
      return refused.getClass().getSimpleName() + ": " + refused.getMessage();
    }
  }

  static void bySpring() throws Exception {
    // Its client without other libraries takes what Java trusts.
    System.setProperty("javax.net.ssl.trustStore", trustStore().toString());
    System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    var requests = ClientHttpRequestFactoryFactory.create(new ClientOptions(), SslConfiguration.unconfigured());
    var endpoint = VaultEndpoint.from(URI.create(System.getenv("VAULT_ADDR")));
    var rest = VaultClients.createRestTemplate(endpoint, requests);
    var scheduler = new ThreadPoolTaskScheduler();
    scheduler.initialize();
    var wrong = appRole("wrong");
    report.put("wrong", refusal(() -> new AppRoleAuthentication(wrong, rest).login()));
    // It looks its token up and renews it in the background, as in an application.
    var login = new AppRoleAuthentication(appRole(System.getenv("SECRET_ID")), rest);
    var session = new LifecycleAwareSessionManager(login, scheduler, rest);
    var vault = new VaultTemplate(RestTemplateBuilder.builder().endpoint(endpoint).requestFactory(requests), session);

    var system = vault.opsForSys();
    report.put("service", List.of(system.isInitialized(), system.health().isSealed(), system.getUnsealStatus().isSealed()));
    report.put("mounts", List.of(system.getMounts().get("transit/").getType(), system.getAuthMounts().get("approle/").getType()));
    report.put("who", vault.read("auth/token/lookup-self").getRequiredData().get("display_name"));

    var transit = vault.opsForTransit();
    transit.createKey(name);
    transit.createKey(name + "-ecdsa", VaultTransitKeyCreationRequest.ofKeyType("ecdsa-p256"));
    transit.createKey(name + "-derived", VaultTransitKeyCreationRequest.builder().derived(true).build());
    report.put("keys", transit.getKeys().stream().filter(key -> key.startsWith(name)).toList());
    report.put("absent", transit.getKey("absent") == null);
    var first = transit.encrypt(name, "first");
    transit.rotate(name);
    var rewrapped = transit.rewrap(name, first);
    report.put("prefixes", List.of(first.substring(0, 9), rewrapped.substring(0, 9)));
    report.put("opened", List.of(transit.decrypt(name, first), transit.decrypt(name, rewrapped)));
    var context = VaultTransitContext.fromContext("for one".getBytes(StandardCharsets.UTF_8));
    var bound = transit.encrypt(name + "-derived", Plaintext.of("bound").with(context));
    report.put("derived", transit.decrypt(name + "-derived", bound).asString());

    var batch = transit.encrypt(name, List.of(Plaintext.of("a"), Plaintext.of("b")));
    report.put("batch", transit.decrypt(name, batch.stream().map(one -> one.get()).toList()).stream().map(one -> one.getAsString()).toList());
    var bad = List.of(batch.get(0).get(), Ciphertext.of("vault:v1:AAAA"));
    report.put("badItem", refusal(() -> transit.decrypt(name, bad)));

    var text = Plaintext.of("signed");
    var signature = transit.sign(name + "-ecdsa", text);
    var mac = transit.getHmac(name, text);
    report.put("verified", List.of(transit.verify(name + "-ecdsa", text, signature), transit.verify(name + "-ecdsa", Plaintext.of("other"), signature)));
    report.put("mac", mac.getHmac().startsWith("vault:v2:"));
    transit.configureKey(name, VaultTransitKeyConfiguration.builder().minDecryptionVersion(2).deletionAllowed(true).build());
    var read = transit.getKey(name);
    report.put("read", List.of(read.getType(), read.getLatestVersion(), read.getMinDecryptionVersion(), read.isDeletionAllowed()));
    report.put("tooOld", refusal(() -> transit.decrypt(name, first)));
    transit.deleteKey(name);
    report.put("gone", transit.getKey(name) == null);

    var pki = vault.opsForPki();
    var issued = pki.issueCertificate("web", VaultCertificateRequest.create("spring.example.test")).getRequiredData();
    report.put("issued", issued.getX509Certificate().getSubjectX500Principal().getName());
    pki.revoke(issued.getSerialNumber());

    var wrapping = vault.opsForWrapping();
    var wrapped = wrapping.wrap(Map.of("a", "1"), Duration.ofMinutes(5));
    report.put("wrapped", wrapping.read(wrapped.getToken()).getRequiredData());
    report.put("again", refusal(() -> wrapping.read(wrapped.getToken())));
    session.destroy();
    report.put("ended", refusal(() -> system.getMounts().isEmpty()).startsWith("not refused"));
  }

  /** The CA of the appliance as Java wants it. */
  static Path trustStore() throws Exception {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (var pem = Files.newInputStream(Path.of(System.getenv("VAULT_CACERT")))) {
      for (var one : CertificateFactory.getInstance("X.509").generateCertificates(pem)) store.setCertificateEntry("ca-" + store.size(), one);
    }
    var file = Path.of(System.getenv("VAULT_CACERT") + ".p12");
    try (var out = Files.newOutputStream(file)) {
      store.store(out, "changeit".toCharArray());
    }
    return file;
  }

  static AppRoleAuthenticationOptions appRole(String secret) {
    return AppRoleAuthenticationOptions.builder()
        .roleId(RoleId.provided(System.getenv("ROLE_ID")))
        .secretId(SecretId.provided(secret))
        .build();
  }

  static void byDriver() throws Exception {
    var trust = new SslConfig().pemUTF8(Files.readString(Path.of(System.getenv("VAULT_CACERT")))).build();
    var config = new VaultConfig().address(System.getenv("VAULT_ADDR")).sslConfig(trust).engineVersion(1).token("");
    var nobody = Vault.create(config.build());
    report.put("wrong", refusal(() -> nobody.auth().loginByAppRole(System.getenv("ROLE_ID"), "wrong")));
    var login = nobody.auth().loginByAppRole(System.getenv("ROLE_ID"), System.getenv("SECRET_ID"));
    config.token(login.getAuthClientToken());
    var vault = Vault.create(config.build());
    report.put("login", List.of(login.isAuthRenewable(), vault.auth().renewSelf(1_800).getAuthLeaseDuration()));
    report.put("who", vault.auth().lookupSelf().getDisplayName());
    report.put("health", List.of(vault.debug().health().getInitialized(), vault.debug().health().getSealed(), vault.seal().sealStatus().getSealed()));

    var logical = vault.logical();
    logical.write("transit/keys/" + name, Map.of());
    report.put("keys", logical.list("transit/keys").getListData().stream().filter(key -> key.startsWith(name)).toList());
    var plaintext = Base64.getEncoder().encodeToString("by the driver".getBytes(StandardCharsets.UTF_8));
    var sealed = logical.write("transit/encrypt/" + name, Map.of("plaintext", plaintext)).getData().get("ciphertext");
    var opened = logical.write("transit/decrypt/" + name, Map.of("ciphertext", sealed)).getData().get("plaintext");
    report.put("opened", new String(Base64.getDecoder().decode(opened), StandardCharsets.UTF_8));
    report.put("absent", refusal(() -> logical.read("transit/keys/absent").getRestResponse().getStatus()));
    report.put("tampered", refusal(() -> logical.write("transit/decrypt/" + name, Map.of("ciphertext", "vault:v1:AAAA")).getRestResponse().getStatus()));
    var issued = vault.pki().issue("web", "driver.example.test", null, null, "24h", null);
    report.put("issued", issued.getCredential().getCertificate().startsWith("-----BEGIN CERTIFICATE-----"));
    vault.auth().revokeSelf();
    report.put("ended", refusal(() -> vault.auth().lookupSelf()));
  }
}
