// Must not compile: a misspelt field with a value of another type.
import com.keystored.model.EncryptRequest;

final class Refused {
  static final EncryptRequest request = new EncryptRequest().plaintxt(5);
}
