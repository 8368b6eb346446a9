// The story (test/clients/story.ts) by openapi-generator's Java client over okhttp and Gson.
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.keystored.api.ApprolesApi;
import com.keystored.api.KeyActionsApi;
import com.keystored.api.TransitKeysApi;
import com.keystored.client.ApiClient;
import com.keystored.client.ApiException;
import com.keystored.client.ApiResponse;
import com.keystored.client.JSON;
import com.keystored.model.*;
import java.io.FileInputStream;
import java.util.ArrayList;
import java.util.List;

public final class Program {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient().setBasePath(System.getenv("KEYSTORED_URL"));
    try (FileInputStream ca = new FileInputStream(System.getenv("KEYSTORED_CA"))) {
      client.setSslCaCert(ca);
    }
    client.setBearerToken(System.getenv("KEYSTORED_TOKEN"));
    TransitKeysApi keys = new TransitKeysApi(client);
    KeyActionsApi actions = new KeyActionsApi(client);
    ApprolesApi approles = new ApprolesApi(client);
    JsonObject report = new JsonObject();

    keys.transitKeysCreate(new TransitKeyCreation().name("made")).execute();
    String sealed = actions.transitKeysEncrypt("made", new EncryptRequest().plaintext("c2VjcmV0")).execute().getCiphertext();
    report.addProperty("decrypted", actions.transitKeysDecrypt("made", new DecryptRequest().ciphertext(sealed)).execute().getPlaintext());

    EncryptBatchRequest items =
        new EncryptBatchRequest()
            .addBatchInputItem(new EncryptBatchItem().plaintext("Zmlyc3Q=").reference("a"))
            .addBatchInputItem(new EncryptBatchItem().plaintext("c2Vjb25k").reference("b"))
            .addBatchInputItem(new EncryptBatchItem().plaintext("dGhpcmQ=").reference("c").keyVersion(99));
    EncryptBatchAnswer sealedBatch = actions.transitKeysEncryptBatch("made", items).execute();
    DecryptBatchRequest ciphertexts = new DecryptBatchRequest();
    for (EncryptBatchResult item : sealedBatch.getBatchResults())
      if (item.getCiphertext() != null) ciphertexts.addBatchInputItem(new DecryptBatchItem().ciphertext(item.getCiphertext()));
    List<DecryptBatchResult> opened = actions.transitKeysDecryptBatch("made", ciphertexts).execute().getBatchResults();
    JsonArray batch = new JsonArray();
    for (EncryptBatchResult item : sealedBatch.getBatchResults())
      batch.add(item.getReference() + ":" + (item.getCode() != null ? item.getCode() : opened.get(batch.size()).getPlaintext()));
    report.add("batch", batch);
    report.addProperty("failed", sealedBatch.getFailed());

    String signature = actions.transitKeysSign("signing", new SignRequest().text("c2lnbmVk")).execute().getSignature();
    JsonArray verified = new JsonArray();
    for (String text : List.of("c2lnbmVk", "b3RoZXI="))
      verified.add(actions.transitKeysVerify("signing", new VerifyRequest().text(text).signature(signature)).execute().getValid());
    report.add("verified", verified);

    List<String> names = new ArrayList<>();
    int pages = 0;
    for (boolean more = true; more; pages++) {
      ApiResponse<List<TransitKey>> page =
          keys.transitKeysListConfig().after(names.isEmpty() ? null : names.get(names.size() - 1)).limit(2).executeWithHttpInfo();
      for (TransitKey key : page.getData()) names.add(key.getName());
      report.addProperty("total", Integer.parseInt(page.getHeaders().get("total-count").get(0)));
      more = page.getHeaders().getOrDefault("link", List.of("")).get(0).contains("rel=\"next\"");
    }
    report.add("names", JSON.getGson().toJsonTree(names));
    report.addProperty("pages", pages);

    keys.transitKeysMerge("merged", new TransitKeyMerge().deletionAllowed(true)).execute();
    approles.approlesMerge("merged", new ApproleMerge().tokenTtl("4h")).execute();
    TransitKey key = keys.transitKeysShowConfig("merged").execute();
    JsonObject merged = new JsonObject();
    merged.addProperty("exportable", key.getExportable());
    merged.addProperty("rotateAfter", key.getAutoRotate().getRotateAfter());
    merged.addProperty("minDecryptionVersion", key.getMinDecryptionVersion());
    merged.addProperty("uses", approles.approlesShowConfig("merged").execute().getSecretIdNumUses());
    report.add("merged", merged);

    try {
      keys.transitKeysShowConfig("absent").execute();
    } catch (ApiException error) {
      Problem problem = Problem.fromJson(error.getResponseBody());
      JsonObject told = new JsonObject();
      told.addProperty("status", problem.getStatus());
      told.addProperty("code", problem.getCode());
      report.add("problem", told);
    }
    System.out.println(report);
    client.getHttpClient().dispatcher().executorService().shutdown();
    client.getHttpClient().connectionPool().evictAll();
  }
}
