// Keys that no library makes: DER of public and private keys with arbitrary numbers and points.
import { createPublicKey, type KeyObject } from 'node:crypto';

type Curve = { readonly oid: string; readonly octets: number };

/** Object identifiers (DER) and octets of a coordinate. */
const curves: Readonly<Record<string, Curve>> = {
  'P-256': { oid: '06082a8648ce3d030107', octets: 32 },
  'P-384': { oid: '06052b81040022', octets: 48 },
  'P-521': { oid: '06052b81040023', octets: 66 },
  secp256k1: { oid: '06052b8104000a', octets: 32 },
};

/** The encoding of the point at infinity. */
export const infinity: Uint8Array = Buffer.of(0);

/** SubjectPublicKeyInfo of an EC key with any octets as its point. */
export function ecSpki(curve: string, point: Uint8Array): Buffer {
  return element(0x30, ecAlgorithm(curve), element(0x03, Buffer.of(0), point));
}

/** PKCS#8 of an EC key with any octets as its scalar; the public key only where given. */
export function ecPkcs8(curve: string, scalar: Uint8Array, point?: Uint8Array): Buffer {
  return element(0x30, Buffer.from('020100', 'hex'), ecAlgorithm(curve), element(0x04, ecPrivateKey(scalar, Buffer.alloc(0), point)));
}

/** SEC1 of an EC key with any octets as its scalar. */
export function ecSec1(curve: string, scalar: Uint8Array, point?: Uint8Array): Buffer {
  return ecPrivateKey(scalar, element(0xa0, curveOf(curve)), point);
}

/** SubjectPublicKeyInfo of an RSA key of any two numbers. */
export function rsaSpki(n: bigint, e: bigint): Buffer {
  const key = element(0x30, integer(n), integer(e));
  return element(0x30, Buffer.from('300d06092a864886f70d0101010500', 'hex'), element(0x03, Buffer.of(0), key));
}

/** The key object of an RSA key of any two numbers. */
export function rsaKey(n: bigint, e: bigint): KeyObject {
  return createPublicKey({ key: rsaSpki(n, e), format: 'der', type: 'spki' });
}

/** PEM of DER. */
export function pem(label: string, der: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`;
}

/** Octets of a coordinate of the curve. */
export function coordinateOctets(curve: string): number {
  return (curves[curve] as Curve).octets;
}

function ecPrivateKey(scalar: Uint8Array, parameters: Uint8Array, point: Uint8Array | undefined): Buffer {
  const publicKey = point === undefined ? Buffer.alloc(0) : element(0xa1, element(0x03, Buffer.of(0), point));
  return element(0x30, Buffer.from('020101', 'hex'), element(0x04, scalar), parameters, publicKey);
}

function ecAlgorithm(curve: string): Buffer {
  return element(0x30, Buffer.from('06072a8648ce3d0201', 'hex'), curveOf(curve));
}

function curveOf(curve: string): Buffer {
  return Buffer.from((curves[curve] as Curve).oid, 'hex');
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return element(0x02, (octets[0] as number) >= 0x80 ? Buffer.concat([Buffer.of(0), octets]) : octets);
}

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}
