// New key: by what it should do.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { textOf } from '../../description/schema.ts';
import { valueAt, type Body } from '../../forms/draft.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { visible } from '../../parts/visible.ts';
import { openMade, PurposePage, type Purpose } from './purpose-page.tsx';

const keys = '/v1/config/keystore/transit-keys';
const states = '/v1/state/keystore/transit-keys';

const name = { label: 'Name', help: 'Programs call the key by it: lower-case letters, digits and hyphens.' };
const rotation = {
  label: 'A new version every',
  help: 'Nothing breaks: older versions go on decrypting and verifying. Empty: only when somebody rotates it.',
};
const signers = [
  'ecdsa-p256',
  'ecdsa-p384',
  'ecdsa-p521',
  'ed25519',
  'rsa-3072',
  'rsa-4096',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
] as const;

const purposes: readonly (Purpose & { readonly review: (body: Body) => string })[] = [
  {
    id: 'encrypt',
    title: 'Encrypt and decrypt',
    text: 'Data of your programs. The usual key: AES-256 in GCM, 90 days a version.',
    outset: {
      first: ['name', 'cipher', 'auto-rotate/rotate-after'],
      choices: { cipher: ['aes256-gcm96', 'aes192-gcm96', 'aes128-gcm96'] },
      preset: { 'auto-rotate/rotate-after': '90d' },
      words: {
        name,
        cipher: { label: 'Cipher', help: 'Leave it unless somebody asks for another one.' },
        'auto-rotate/rotate-after': rotation,
      },
    },
    review: (body) => `Programs encrypt and decrypt with ${nameIn(body)} here; it never leaves the appliance.`,
  },
  {
    id: 'sign',
    title: 'Sign',
    text: 'Releases, tokens, documents. Everybody can check with the public key.',
    outset: {
      first: ['name', 'cipher', 'publish'],
      choices: { cipher: signers },
      preset: { cipher: 'ecdsa-p256' },
      words: {
        name,
        cipher: {
          label: 'Algorithm',
          help: 'ECDSA P-256 is understood everywhere; RSA by old programs, ML-DSA holds against quantum computers.',
        },
        publish: { label: 'Publish the public key', help: 'Anybody may then read it at the JWKS address of the tenant.' },
      },
    },
    review: (body) =>
      `Programs sign with ${nameIn(body)}; its private key never leaves the appliance, its public key is in the state of the key.`,
  },
  {
    id: 'mac',
    title: 'Seal messages (MAC)',
    text: 'Both sides ask this appliance whether a message is unchanged.',
    outset: {
      first: ['name', 'cipher'],
      choices: { cipher: ['aes256-cmac', 'aes128-cmac'] },
      preset: { cipher: 'aes256-cmac' },
      words: { name, cipher: { label: 'Cipher', help: 'AES-CMAC, as in RFC 4493.' } },
    },
    review: (body) => `Programs make and check seals with ${nameIn(body)} here.`,
  },
  {
    id: 'receive',
    title: 'Let others encrypt to it',
    text: 'RSA: anybody encrypts with the public key, only this appliance decrypts.',
    outset: {
      first: ['name', 'cipher'],
      choices: { cipher: ['rsa-3072', 'rsa-4096', 'rsa-2048'] },
      preset: { cipher: 'rsa-3072' },
      fixed: { use: 'encrypt' },
      words: { name, cipher: { label: 'Size', help: 'RSA-OAEP. 3,072 bits last for years.' } },
    },
    review: (body) => `Others encrypt to the public key of ${nameIn(body)}, and only programs that may use it here decrypt.`,
  },
  {
    id: 'verify',
    title: 'Only check signatures',
    text: 'Of somebody else, whose public key or certificate you have.',
    outset: {
      first: ['name', 'public-key', 'cipher'],
      choices: { cipher: signers },
      words: {
        name,
        'public-key': { label: 'Public key', help: 'PEM, base64 of DER, a JWK, or a certificate.' },
        cipher: { label: 'Algorithm', help: 'What kind of key it is.' },
      },
    },
    review: (body) => `Programs check signatures with ${nameIn(body)}; nothing can be signed with it.`,
  },
  {
    id: 'openpgp',
    title: 'OpenPGP',
    text: 'Sign packages, mails and releases so that gpg and sq understand it.',
    outset: {
      first: ['name', 'openpgp-user-id', 'cipher'],
      choices: { cipher: ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-3072', 'rsa-4096'] },
      preset: { cipher: 'rsa-4096' },
      words: {
        name,
        'openpgp-user-id': { label: 'User ID', help: 'Whose key it is, as people see it: Release Team <release@example.com>.' },
        cipher: { label: 'Algorithm', help: 'RSA is understood by every package manager, Ed25519 by those of the last years.' },
      },
    },
    review: (body) => `${nameIn(body)} is the primary key of “${visible(textOf(body['openpgp-user-id'] ?? '…'))}”.`,
  },
  {
    id: 'import',
    title: 'Bring a key you have',
    text: 'The next page takes it: PKCS#8, JWK, OpenSSH, OpenPGP, raw or wrapped.',
    outset: {
      first: ['name', 'cipher'],
      words: { name, cipher: { label: 'What kind it is', help: 'Type and size must be those of the key that you bring.' } },
    },
    review: (body) => `Makes ${nameIn(body)}, and then asks for its material.`,
  },
];

export function NewKeyPage(props: DrawnProps): ComponentChildren {
  const givesAccess = useSignal(false);
  const shown = purposes.map((purpose) => ({
    ...purpose,
    outset: {
      ...purpose.outset,
      beside: purpose.id === 'import' ? undefined : <WhoMay isOn={givesAccess.value} onChange={(isOn) => (givesAccess.value = isOn)} />,
      review: (body: Body) => <Review text={purpose.review(body)} body={body} />,
    },
  }));
  return (
    <PurposePage
      {...props}
      title="New key"
      intro="Say what it should do: everything else has usual values."
      asks="What should it do?"
      purposes={shown}
      does="Create"
      onMade={(answer, { id }) => {
        if (id === 'import') openMade(states, answer, { below: '/import' });
        else openMade(keys, answer, givesAccess.value ? { query: { do: 'give-access' } } : {});
      }}
    />
  );
}

function WhoMay({ isOn, onChange }: { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void }): ComponentChildren {
  return (
    <fieldset class="choices">
      <legend>Who may use it</legend>
      <label>
        <input type="radio" name="who-may" checked={!isOn} onChange={() => onChange(false)} /> those whose policies say so already
      </label>
      <label>
        <input type="radio" name="who-may" checked={isOn} onChange={() => onChange(true)} /> an application, on the next page
      </label>
    </fieldset>
  );
}

function Review({ text, body }: { readonly text: string; readonly body: Body }): ComponentChildren {
  const every = valueAt(body, 'auto-rotate/rotate-after');
  const isExportable = body['exportable'] === true;
  return (
    <div class="review" role="group" aria-label="What comes of it">
      <p>{text}</p>
      <p class="quiet">
        {every === undefined ? 'It is rotated by hand' : `It gets a new version every ${visible(textOf(every))}`}, and{' '}
        {isExportable ? 'its material may be exported' : 'its material cannot be exported'}.
      </p>
    </div>
  );
}

function nameIn(body: Body): string {
  const { name: typed } = body;
  return typeof typed === 'string' && typed !== '' ? `“${visible(typed)}”` : 'the key';
}
