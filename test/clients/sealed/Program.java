// Seals, opens and rewraps files with the Java client: COMMAND FROM TO …; a line for each, and the most memory in kB. `import` takes keys TO.
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import keystored.client.Client;
import keystored.client.Key;
import keystored.client.SealedDataException;

public class Program {
  public static void main(String[] arguments) throws Exception {
    Client client = Client.builder()
        .address(System.getenv("KEYSTORED_URL"))
        .ca(Files.readString(Path.of(System.getenv("KEYSTORED_CA_FILE"))))
        .token(System.getenv("KEYSTORED_TOKEN"))
        .build();
    Key key = client.key(System.getenv("KEYSTORED_KEY"));
    for (int at = 1; at < arguments.length; at += 2) {
      try {
        work(arguments[0].equals("import") ? client.key(arguments[at + 1]) : key, arguments[0], arguments[at], arguments[at + 1]);
        System.out.println("done");
      } catch (SealedDataException refused) {
        System.out.println("refused: " + refused.getMessage());
      }
    }
    Matcher most = Pattern.compile("VmHWM:\\s*(\\d+)").matcher(Files.readString(Path.of("/proc/self/status")));
    System.out.println(most.find() ? most.group(1) : "");
  }

  private static void work(Key key, String command, String from, String to) throws Exception {
    if (command.equals("import")) {
      key.importWrapped(Files.readAllBytes(Path.of(from)));
      return;
    }
    if (command.equals("rewrap")) {
      try (RandomAccessFile file = new RandomAccessFile(from, "rw")) {
        byte[] header = new byte[Key.SEALED_HEADER_BYTES];
        file.readFully(header);
        byte[] rewrapped = key.rewrapSealed(header);
        file.seek(0);
        file.write(rewrapped);
      }
      return;
    }
    try (InputStream source = Files.newInputStream(Path.of(from));
        InputStream made = command.equals("seal") ? key.seal(source) : key.open(source);
        OutputStream target = Files.newOutputStream(Path.of(to))) {
      made.transferTo(target);
    }
  }
}
