// Code that uses a key, with its name in it: complete programs that get the address and the login from their environment.
import { quote } from '../../../../../core/base/texts/quote.ts';
import { caFile } from '../../commands/commands.ts';

export type Snippet = { readonly language: string; readonly file: string; readonly text: string };

/** Use of a key: the line that does it in each language. */
type Lines = {
  readonly curl: readonly [action: string, body: object];
  readonly python: string;
  readonly go: string;
  readonly java: string;
  readonly typescript: string;
};

/** Stands for what the application derives keys by. The same again decrypts. */
const exampleContext = 'customer-17';

const lines: Readonly<Record<string, Lines>> = {
  encrypt: {
    curl: ['encrypt', { plaintext: 'NDcxMQ==' }],
    python: 'print(key.encrypt("4711"))  # a text stands for its UTF-8',
    go: 'result, err := key.Encrypt(ctx, []byte("4711"))',
    java: 'System.out.println(key.encrypt("4711".getBytes(UTF_8)));',
    typescript: "console.log(await key.encrypt('4711')); // a text stands for its UTF-8",
  },
  decrypt: {
    curl: ['decrypt', { ciphertext: '…' }],
    python: 'print(key.decrypt(input("ciphertext: ")))',
    go: 'result, err := key.Decrypt(ctx, os.Args[1])',
    java: 'System.out.println(new String(key.decrypt(arguments[0]), UTF_8));',
    typescript: 'console.log(new TextDecoder().decode(await key.decrypt(process.argv[2])));',
  },
  sign: {
    curl: ['sign', { text: 'NDcxMQ==' }],
    python: 'print(key.sign("4711"))',
    go: 'result, err := key.Sign(ctx, []byte("4711"))',
    java: 'System.out.println(key.sign("4711".getBytes(UTF_8)));',
    typescript: "console.log(await key.sign('4711'));",
  },
  verify: {
    curl: ['verify', { text: 'NDcxMQ==', signature: '…' }],
    python: 'print(key.verify("4711", input("signature: ")))',
    go: 'result, err := key.Verify(ctx, []byte("4711"), os.Args[1])',
    java: 'System.out.println(key.verify("4711".getBytes(UTF_8), arguments[0]));',
    typescript: "console.log(await key.verify('4711', process.argv[2]));",
  },
};

/** Lines of derived keys in languages whose calls take the context. Keys that sign are never derived. */
const derivedLines: Readonly<Record<string, Partial<Lines>>> = {
  encrypt: {
    python: `print(key.encrypt("4711", context="${exampleContext}"))  # a text stands for its UTF-8`,
    typescript: `console.log(await key.encrypt('4711', { context: '${exampleContext}' })); // a text stands for its UTF-8`,
  },
  decrypt: {
    python: `print(key.decrypt(input("ciphertext: "), context="${exampleContext}"))`,
    typescript: `console.log(new TextDecoder().decode(await key.decrypt(process.argv[2], { context: '${exampleContext}' })));`,
  },
};

/** `isDerived`: each use names a context. */
export type SnippetFacts = { readonly key: string; readonly actions: readonly string[]; readonly isDerived?: boolean };

/** Programs in five languages for the first use that has a line of its own; none for keys whose uses have none. */
export function snippetsFor({ key, actions, isDerived = false }: SnippetFacts): readonly Snippet[] {
  const used = Object.keys(lines).find((action) => actions.includes(action));
  const plain = used === undefined ? undefined : lines[used];
  if (used === undefined || plain === undefined) return [];
  const [action, body] = plain.curl;
  const found: Lines = isDerived ? { ...plain, ...derivedLines[used], curl: [action, { ...body, context: exampleContext }] } : plain;
  return [
    { language: 'curl', file: 'first.sh', text: curl(key, found) },
    { language: 'Python', file: 'first.py', text: python(key, found) },
    { language: 'Go', file: 'main.go', text: go(key, found, isDerived ? `.With(keystored.KeyOptions{Context: "${exampleContext}"})` : '') },
    { language: 'Java', file: 'First.java', text: java(key, found, isDerived ? `.withContext("${exampleContext}")` : '') },
    { language: 'TypeScript', file: 'first.mjs', text: typescript(key, found) },
  ];
}

/** Lines for a shell: where the appliance is, and who asks. The secret is typed, so that it is in no history. */
export function environmentOf(origin: string, roleId: string): string {
  return [
    `export KEYSTORED_URL=${quote(origin)} KEYSTORED_ROLE_ID=${quote(roleId)}`,
    'read -rs KEYSTORED_SECRET_ID && export KEYSTORED_SECRET_ID',
  ].join('\n');
}

function curl(key: string, { curl: [action, body] }: Lines): string {
  const post = `curl --cacert ${caFile} -sS --fail-with-body --header 'Content-Type: application/json'`;
  return [
    'token=$(printf \'{"role-id":"%s","secret-id":"%s"}\' "$KEYSTORED_ROLE_ID" "$KEYSTORED_SECRET_ID" |',
    `  ${post} --data-binary @- "$KEYSTORED_URL/v1/approle-login" |`,
    '  sed -n \'s/.*"token": *"\\([^"]*\\)".*/\\1/p\')',
    `${post} --header "Authorization: Bearer $token" \\`,
    `  --data-raw ${quote(JSON.stringify(body))} "$KEYSTORED_URL/v1/state/keystore/transit-keys/${encodeURIComponent(key)}/${action}"`,
  ].join('\n');
}

function python(key: string, { python: use }: Lines): string {
  return `import os
from pathlib import Path
from keystored_client import Approle, Client

client = Client(
    os.environ["KEYSTORED_URL"],
    ca=Path("${caFile}").read_text(),
    credentials=Approle(role_id=os.environ["KEYSTORED_ROLE_ID"], secret_id=os.environ["KEYSTORED_SECRET_ID"]),
)
key = client.key(${JSON.stringify(key)})
${use}
`;
}

function go(key: string, { go: use }: Lines, options: string): string {
  return `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	keystored "keystored-client"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	ca, err := os.ReadFile("${caFile}")
	if err != nil {
		return err
	}
	client, err := keystored.New(keystored.Config{
		Addresses: []string{os.Getenv("KEYSTORED_URL")},
		CAPEM:     ca,
		RoleID:    os.Getenv("KEYSTORED_ROLE_ID"),
		SecretID:  os.Getenv("KEYSTORED_SECRET_ID"),
	})
	if err != nil {
		return err
	}
	key := client.Key(${JSON.stringify(key)})${options}
	${use}
	fmt.Println(result)
	return err
}
`;
}

function java(key: string, { java: use }: Lines, options: string): string {
  return `import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Files;
import java.nio.file.Path;
import keystored.client.Client;
import keystored.client.Key;

public class First {
  public static void main(String[] arguments) throws Exception {
    Client client = Client.builder()
        .address(System.getenv("KEYSTORED_URL"))
        .ca(Files.readString(Path.of("${caFile}")))
        .approle(System.getenv("KEYSTORED_ROLE_ID"), System.getenv("KEYSTORED_SECRET_ID"))
        .build();
    Key key = client.key(${JSON.stringify(key)})${options};
    ${use}
  }
}
`;
}

function typescript(key: string, { typescript: use }: Lines): string {
  return `import { readFileSync } from 'node:fs';
import { Client } from 'keystored-client';

const { KEYSTORED_URL: address, KEYSTORED_ROLE_ID: roleId, KEYSTORED_SECRET_ID: secretId } = process.env;
const client = new Client({ address, ca: readFileSync('${caFile}', 'utf8'), credentials: { roleId, secretId } });
const key = client.key(${quoteScript(key)});
${use}
client.close();
`;
}

/** Names of keys have no quotes; anything else is as in JSON. */
function quoteScript(text: string): string {
  return /^[a-z0-9-]+$/.test(text) ? `'${text}'` : JSON.stringify(text);
}
