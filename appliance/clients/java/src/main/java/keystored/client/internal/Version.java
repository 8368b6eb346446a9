// The version of this library, which is the one of the appliance it was made for.
package keystored.client.internal;

/** The version of this library. */
final class Version {
  static final String VERSION = "0.1.0";

  private Version() {}
}
