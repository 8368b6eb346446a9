// What the description says about a request, whoever sends it.
package keystored.client.internal;

/**
 * An operation of the API.
 *
 * @param method the HTTP method
 * @param path with {@code {}} for each path parameter
 * @param accept the media type of the answer; empty where there is none
 * @param traits what else is known of it
 */
public record Operation(String method, String path, String accept, Trait... traits) {
  /** What an operation is beside its method and path. */
  public enum Trait {
    /** It is repeated also when the first attempt may have had its effect. */
    IDEMPOTENT,
    /** It is sent without a token. */
    PUBLIC,
    /** It answers 400 with its usual answer when every item of a batch failed. */
    PARTIAL
  }

  boolean is(Trait trait) {
    for (Trait one : traits) if (one == trait) return true;
    return false;
  }
}
