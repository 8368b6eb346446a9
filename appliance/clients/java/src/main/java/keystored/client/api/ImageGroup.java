// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ImageGroup {
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/system/image", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ImageGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * The bootable image: version, slots, trial, last update.
   *
   * <p>An update is taken from a medium, when every key of the running version has signed it.
   *
   * <p>GET /v1/state/system/image
   *
   * @return the answer
   */
  public ImageAnswer show() {
    return sender.json(SHOW, new Parts(), ImageAnswer.class);
  }
}
