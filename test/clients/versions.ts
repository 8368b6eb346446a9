// The versions of everything that generates, compiles and tries clients of others: change them here and nowhere else.

/** Releases in their registries. Lock files beside the programs hold what these bring with them. */
export const versions = {
  // Maven Central; the project that it writes pins the rest
  'openapi-generator': '7.25.0',
  'maven-dependency-plugin': '3.8.1',
  // PyPI
  'openapi-python-client': '0.29.1',
  mypy: '2.4.1',
  /** sealed data in our client for Python */
  cryptography: '50.0.2',
  schemathesis: '4.32.5',
  'cyclonedx-python-lib': '11.12.0',
  'in-toto-attestation': '0.9.3',
  securesystemslib: '1.6.0',
  'spdx-tools': '0.8.5',
  // the Go proxy
  go: '1.26.0',
  'go, oldest of our client': '1.21.13',
  'oapi-codegen': '2.8.2',
  'oapi-codegen/runtime': '1.8.0',
  // npm
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  '@hey-api/openapi-ts': '0.99.0',
  '@types/node': '26.6.6',
  /** openapi-typescript cannot load TypeScript 7 */
  typescript: '5.9.3',
} as const;

/** The oldest toolchain that compiles what the generators write, and how to get it where the distribution has none. */
export const toolchains = {
  java: { oldest: '11', install: 'the Debian package default-jdk-headless, or a JDK from 11 on' },
  mvn: { oldest: '3.6', install: 'the Debian package maven, or Maven from 3.6 on' },
  python3: { oldest: '3.10', install: 'the Debian package python3-venv, or Python from 3.10 on' },
  go: { oldest: '1.16', install: 'the Debian package golang-go, or Go from 1.16 on' },
  cargo: { oldest: '1.85', install: 'the Debian packages cargo-web and rustc-web, or Rust from 1.85 on' },
  npm: { oldest: '9', install: 'npm, which comes with Node.js' },
} as const;
