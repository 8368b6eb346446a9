// A request without an answer: the address was away, the certificate wrong, the time over, the thread interrupted.
package keystored.client;

/** A request without an answer: the address was away, the certificate wrong, the time over, the thread interrupted. */
public final class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The base address. */
  private final String address;

  /** Whether the request may have reached the appliance. */
  private final boolean sent;

  /**
   * Makes the exception.
   *
   * @param address the base address that was tried last
   * @param message what happened
   * @param sent whether the request may have reached the appliance
   * @param cause why
   */
  public TransportException(String address, String message, boolean sent, Throwable cause) {
    super(address + ": " + message, cause);
    this.address = address;
    this.sent = sent;
  }

  /**
   * Answers the base address that was tried last.
   *
   * @return for example {@code https://keys.example:4646}
   */
  public String address() {
    return address;
  }

  /**
   * Says whether the request may have reached the appliance.
   *
   * @return false when it certainly did not
   */
  public boolean wasSent() {
    return sent;
  }
}
