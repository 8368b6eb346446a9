// openapi-generator, which writes clients in many languages: a JAR from Maven Central.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Ending, must, toolDirectory } from './commands.ts';
import { versions } from './versions.ts';

/** Generates a client below `directory` after validating the description. */
export async function generate(
  generator: 'java' | 'python' | 'rust',
  descriptionFile: string,
  directory: string,
  options: readonly string[],
): Promise<Ending> {
  const jar = await obtainJar();
  return must('java', ['-jar', jar, 'generate', '-g', generator, '-i', descriptionFile, '-o', directory, ...options]);
}

const copyGoal = `org.apache.maven.plugins:maven-dependency-plugin:${versions['maven-dependency-plugin']}:copy`;

async function obtainJar(): Promise<string> {
  const version = versions['openapi-generator'];
  const directory = toolDirectory('openapi-generator');
  const jar = join(directory, `openapi-generator-cli-${version}.jar`);
  if (existsSync(jar)) return jar;
  const artifact = `org.openapitools:openapi-generator-cli:${version}`;
  await must('mvn', ['-q', '-B', '-ntp', copyGoal, `-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`]);
  return jar;
}
