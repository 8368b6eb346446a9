// The Java client against a running appliance: its own tests, its packages, and a project outside that uses it as its README says.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../harness/temporary.ts';
import { type OurAppliance, startOurAppliance } from './our-appliance.ts';

const path = temporaryDirectory();
const source = resolve(import.meta.dirname, '../../appliance/clients/java');
const library = path('library');
const repository = path('repository');

let appliance: OurAppliance;
beforeAll(async () => {
  // Built elsewhere, so that nothing is left in the tree.
  cpSync(source, library, { recursive: true, filter: (from) => !from.startsWith(`${source}${sep}target`) });
  appliance = await startOurAppliance(path());
});
afterAll(() => appliance?.stop());

function maven(at: string, ...args: string[]): Promise<string> {
  return appliance.run(at, 'mvn', ['-B', '-ntp', ...args]);
}

test('its tests pass, and the compiler and javadoc warn of nothing', async () => {
  const output = await maven(library, 'deploy', `-DaltDeploymentRepository=here::file://${repository}`);
  expect(output).toMatch(/Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0\n/);
  expect(output).toMatch(/100000 results, at most \d+ KiB in the heap/);
  expect(output).not.toContain('[WARNING]');
  const at = join(repository, 'keystored/keystored-client', manifest.version);
  for (const part of ['.jar', '-sources.jar', '-javadoc.jar', '.pom']) {
    expect(existsSync(join(at, `keystored-client-${manifest.version}${part}`)), part).toBe(true);
  }
});

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>outside</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository><id>here</id><url>file://${repository}</url></repository></repositories>
  <dependencies>
    <dependency><groupId>keystored</groupId><artifactId>keystored-client</artifactId><version>${manifest.version}</version></dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
      <plugin><groupId>org.codehaus.mojo</groupId><artifactId>exec-maven-plugin</artifactId><version>3.5.0</version></plugin>
    </plugins>
  </build>
</project>
`;

const program = `import java.nio.file.*;
import keystored.client.*;
import keystored.client.api.*;

public class Main {
  public static void main(String[] args) throws Exception {
    Client client = Client.builder()
        .address(System.getenv("KEYSTORED_TEST_ADDRESS"))
        .ca(Files.readString(Path.of(System.getenv("KEYSTORED_TEST_CA_FILE"))))
        .token(System.getenv("KEYSTORED_TEST_TOKEN"))
        .build();
    client.transitKeys().create(TransitKeyCreation.builder("outside").build());
    for (TransitKeyState one : client.transitKeys().listEach(TransitKeysListOptions.builder().build())) {
      if (one.name().equals("outside")) System.out.println("found " + one.cipher());
    }
  }
}
`;

test('a project elsewhere uses it', async () => {
  const at = path('outside');
  const sources = join(at, 'src/main/java');
  mkdirSync(sources, { recursive: true });
  writeFileSync(join(at, 'pom.xml'), pom);
  writeFileSync(join(sources, 'Main.java'), program);
  // A local repository of its own would fetch every plugin again; the usual one forgets the package before and after.
  const forget = ['dependency:purge-local-repository', '-DmanualInclude=keystored:keystored-client', '-DreResolve=false'];
  await maven(at, '-q', ...forget);
  const output = await maven(at, '-q', 'compile', 'exec:java', '-Dexec.mainClass=Main');
  expect(output).toContain('found aes256-gcm96');
  writeFileSync(join(sources, 'Main.java'), program.replace('builder("outside")', 'builder("outside").ciper("rot13")'));
  await expect(maven(at, '-q', 'compile')).rejects.toThrow('ciper');
  await maven(at, '-q', ...forget);
});
