// The identity that a platform signs for its workloads, as credentials: its token is read again for every login.
package keystored.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * An identity that a platform signs for its workloads: GitHub, GitLab, Kubernetes, SPIFFE and others.
 *
 * @param tenant the tenant of the JWT role
 * @param role the name of the JWT role
 * @param issuer the name of the JWT issuer, where several with the same {@code iss} have a role of this name; else null
 * @param jwt answers a token of the platform, for one login
 */
public record Workload(String tenant, String role, String issuer, Supplier<String> jwt) {
  /**
   * Throws NullPointerException for what is missing.
   *
   * @param tenant the tenant of the JWT role
   * @param role the name of the JWT role
   * @param issuer the name of the JWT issuer, where several with the same {@code iss} have a role of this name; else null
   * @param jwt answers a token of the platform, for one login
   */
  public Workload {
    Objects.requireNonNull(tenant, "tenant");
    Objects.requireNonNull(role, "role");
    Objects.requireNonNull(jwt, "jwt");
  }

  /**
   * A workload whose role has a name of its own.
   *
   * @param tenant the tenant of the JWT role
   * @param role the name of the JWT role
   * @param jwt answers a token of the platform, for one login: {@link #file}, {@link #environment}, or one that asks the platform
   */
  public Workload(String tenant, String role, Supplier<String> jwt) {
    this(tenant, role, null, jwt);
  }

  /**
   * Reads the token from a file that the platform keeps fresh: a projected volume of Kubernetes, an SVID of a SPIFFE helper.
   *
   * @param path of the file
   * @return for {@code jwt}
   */
  public static Supplier<String> file(Path path) {
    return () -> {
      try {
        return found(Files.readString(path), "the file " + path);
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    };
  }

  /**
   * Reads the token from a variable of the environment, as GitLab gives it to a job.
   *
   * @param variable its name
   * @return for {@code jwt}
   */
  public static Supplier<String> environment(String variable) {
    return () -> found(System.getenv(variable), "the variable " + variable + " of the environment");
  }

  private static String found(String text, String where) {
    if (text == null || text.isBlank()) throw new IllegalStateException(where + " holds no token of the platform");
    return text.strip();
  }

  /**
   * Reads a token of the platform.
   *
   * @return the body of a login
   */
  public Map<String, String> login() {
    Map<String, String> body = new LinkedHashMap<>(Map.of("tenant", tenant, "role", role, "jwt", jwt.get()));
    if (issuer != null) body.put("issuer", issuer);
    return body;
  }
}
