// The story (test/clients/story.ts) by openapi-generator's Java client over java.net.http and Jackson.
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.keystored.api.ApprolesApi;
import com.keystored.api.ApprolesApi.*;
import com.keystored.api.KeyActionsApi;
import com.keystored.api.TransitKeysApi;
import com.keystored.api.TransitKeysApi.*;
import com.keystored.client.ApiClient;
import com.keystored.client.ApiException;
import com.keystored.client.ApiResponse;
import com.keystored.model.*;
import java.io.FileInputStream;
import java.net.http.HttpClient;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public final class Program {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("KEYSTORED_URL"));
    client.setHttpClientBuilder(HttpClient.newBuilder().sslContext(trusting(System.getenv("KEYSTORED_CA"))));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("KEYSTORED_TOKEN")));
    ObjectMapper json = client.getObjectMapper();
    TransitKeysApi keys = new TransitKeysApi(client);
    KeyActionsApi actions = new KeyActionsApi(client);
    ApprolesApi approles = new ApprolesApi(client);
    ObjectNode report = json.createObjectNode();

    keys.transitKeysCreate(APITransitKeysCreateRequest.newBuilder().transitKeyCreation(new TransitKeyCreation().name("made")).build());
    String sealed = actions.transitKeysEncrypt("made", new EncryptRequest().plaintext("c2VjcmV0")).getCiphertext();
    report.put("decrypted", actions.transitKeysDecrypt("made", new DecryptRequest().ciphertext(sealed)).getPlaintext());

    EncryptBatchRequest items =
        new EncryptBatchRequest()
            .addBatchInputItem(new EncryptBatchItem().plaintext("Zmlyc3Q=").reference("a"))
            .addBatchInputItem(new EncryptBatchItem().plaintext("c2Vjb25k").reference("b"))
            .addBatchInputItem(new EncryptBatchItem().plaintext("dGhpcmQ=").reference("c").keyVersion(99));
    EncryptBatchAnswer sealedBatch = actions.transitKeysEncryptBatch("made", items);
    DecryptBatchRequest ciphertexts = new DecryptBatchRequest();
    for (EncryptBatchResult item : sealedBatch.getBatchResults())
      if (item.getCiphertext() != null) ciphertexts.addBatchInputItem(new DecryptBatchItem().ciphertext(item.getCiphertext()));
    List<DecryptBatchResult> opened = actions.transitKeysDecryptBatch("made", ciphertexts).getBatchResults();
    ArrayNode batch = json.createArrayNode();
    for (EncryptBatchResult item : sealedBatch.getBatchResults())
      batch.add(item.getReference() + ":" + (item.getCode() != null ? item.getCode() : opened.get(batch.size()).getPlaintext()));
    report.set("batch", batch);
    report.put("failed", sealedBatch.getFailed());

    String signature = actions.transitKeysSign("signing", new SignRequest().text("c2lnbmVk")).getSignature();
    ArrayNode verified = json.createArrayNode();
    for (String text : List.of("c2lnbmVk", "b3RoZXI="))
      verified.add(actions.transitKeysVerify("signing", new VerifyRequest().text(text).signature(signature)).getValid());
    report.set("verified", verified);

    List<String> names = new ArrayList<>();
    int pages = 0;
    for (boolean more = true; more; pages++) {
      ApiResponse<List<TransitKey>> page =
          keys.transitKeysListConfigWithHttpInfo(
              APITransitKeysListConfigRequest.newBuilder().after(names.isEmpty() ? null : names.get(names.size() - 1)).limit(2).build());
      for (TransitKey key : page.getData()) names.add(key.getName());
      report.put("total", Integer.parseInt(page.getHeaders().get("total-count").get(0)));
      more = page.getHeaders().getOrDefault("link", List.of("")).get(0).contains("rel=\"next\"");
    }
    report.set("names", json.valueToTree(names));
    report.put("pages", pages);

    TransitKeyMerge merge = new TransitKeyMerge().deletionAllowed(true);
    keys.transitKeysMerge(APITransitKeysMergeRequest.newBuilder().name("merged").transitKeyMerge(merge).build());
    approles.approlesMerge(APIApprolesMergeRequest.newBuilder().name("merged").approleMerge(new ApproleMerge().tokenTtl("4h")).build());
    TransitKey key = keys.transitKeysShowConfig(APITransitKeysShowConfigRequest.newBuilder().name("merged").build());
    ObjectNode merged = json.createObjectNode();
    merged.put("exportable", key.getExportable());
    merged.put("rotateAfter", key.getAutoRotate().getRotateAfter());
    merged.put("minDecryptionVersion", key.getMinDecryptionVersion());
    merged.put("uses", approles.approlesShowConfig(APIApprolesShowConfigRequest.newBuilder().name("merged").build()).getSecretIdNumUses());
    report.set("merged", merged);

    try {
      keys.transitKeysShowConfig(APITransitKeysShowConfigRequest.newBuilder().name("absent").build());
    } catch (ApiException error) {
      Problem problem = json.readValue(error.getResponseBody(), Problem.class);
      ObjectNode told = json.createObjectNode();
      told.put("status", problem.getStatus());
      told.put("code", problem.getCode());
      report.set("problem", told);
    }
    System.out.println(report);
  }

  private static SSLContext trusting(String file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (FileInputStream ca = new FileInputStream(file)) {
      store.setCertificateEntry("appliance", CertificateFactory.getInstance("X.509").generateCertificate(ca));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
