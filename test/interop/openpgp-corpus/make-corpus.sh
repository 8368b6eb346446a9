#!/bin/sh
# Makes the corpus of foreign certificates and signatures again, with gpg 2.2 and sq 0.27 as in Debian 12. The files are kept in the
# repository, so that tests do not depend on either; a new run makes new keys. Usage: ./make-corpus.sh (writes beside itself)
set -eu
cd "$(dirname "$0")"
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg() { command gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase '' "$@"; }
fingerprint() { gpg --with-colons --list-keys "$1" | awk -F: '/^fpr/{print $10; exit}'; }
publish() { gpg --armor --export "$2" > "$1.asc"; }
signed() { gpg --yes --armor --detach-sign -u "$2" -o "$1.sig" document.txt; }
printf 'A document.\r\nWith two line ends and a blank at the end \n' > document.txt

# One certificate per algorithm, primary key [SC].
for algorithm in rsa2048 rsa3072 rsa4096 ed25519 nistp256 nistp384 nistp521 dsa2048 brainpoolP256r1 secp256k1; do
  gpg --quick-gen-key "$algorithm <$algorithm@example.org>" "$algorithm" sign never
  publish "gpg-$algorithm" "$algorithm@example.org"
  signed "gpg-$algorithm" "$algorithm@example.org"
done

# Primary [C] with subkeys [S] and [E], and the same without [S]. The private block is of a throw-away key: a test asks to refuse it.
gpg --quick-gen-key 'subkeys <subkeys@example.org>' ed25519 cert never
publish gpg-certify-only subkeys@example.org
fpr=$(fingerprint subkeys@example.org)
gpg --quick-add-key "$fpr" ed25519 sign never
gpg --quick-add-key "$fpr" cv25519 encr never
publish gpg-subkeys subkeys@example.org
signed gpg-subkeys subkeys@example.org
gpg --yes --armor --textmode --detach-sign -u subkeys@example.org -o gpg-subkeys-textmode.sig document.txt
gpg --yes --armor --detach-sign -u ed25519@example.org -u subkeys@example.org -o gpg-two-signers.sig document.txt
gpg --yes --clear-sign -u subkeys@example.org -o gpg-clearsigned.sig document.txt
gpg --yes --detach-sign -u subkeys@example.org -o gpg-subkeys.bin.sig document.txt
gpg --armor --export-secret-keys subkeys@example.org > gpg-private.asc
gpg --armor --export subkeys@example.org ed25519@example.org > gpg-two-certificates.asc
cat gpg-ed25519.asc gpg-subkeys.asc > gpg-two-blocks.asc

# Expired: signed in time.
gpg --faked-system-time 20240101T000000! --quick-gen-key 'expired <expired@example.org>' ed25519 sign 30d
gpg --faked-system-time 20240115T000000! --yes --armor --detach-sign -u expired@example.org -o gpg-expired.sig document.txt
publish gpg-expired expired@example.org

# Extended: signed before gpg replaced the self-signature.
gpg --faked-system-time 20240101T000000! --quick-gen-key 'extended <extended@example.org>' ed25519 sign 30d
gpg --faked-system-time 20240115T000000! --yes --armor --detach-sign -u extended@example.org -o gpg-extended.sig document.txt
gpg --faked-system-time 20240120T000000! --quick-set-expire "$(fingerprint extended@example.org)" 0
publish gpg-extended extended@example.org

# Revoked, with the certificate gpg makes at generation (no reason given).
gpg --quick-gen-key 'revoked <revoked@example.org>' ed25519 sign never
signed gpg-revoked revoked@example.org
sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$(fingerprint revoked@example.org).rev" | gpg --import
publish gpg-revoked revoked@example.org

# sq's default certificate: primary [C], subkeys for signing, authentication, encryption.
sq --force key generate --userid 'sq <sq@example.org>' --export "$GNUPGHOME/sq.key" --rev-cert "$GNUPGHOME/sq.rev"
sq --force key extract-cert -o sq-default.asc "$GNUPGHOME/sq.key"
sq --force sign --signer-key "$GNUPGHOME/sq.key" --detached -o sq-default.sig document.txt
sq --force key generate --cipher-suite rsa4k --userid 'sq <sq@example.org>' --export "$GNUPGHOME/sq4.key" --rev-cert "$GNUPGHOME/sq.rev"
sq --force key extract-cert -o sq-rsa4k.asc "$GNUPGHOME/sq4.key"
sq --force sign --signer-key "$GNUPGHOME/sq4.key" --detached -o sq-rsa4k.sig document.txt
