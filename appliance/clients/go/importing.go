package keystored

import (
	"context"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
)

// ImportWrapped imports a key as a new version, wrapped here under a key of the appliance that opens this import alone: nobody on the way
// sees it. The material is the PKCS#8 of a private key, as x509.MarshalPKCS8PrivateKey has it, or the octets of a symmetric key.
func (k *Key) ImportWrapped(ctx context.Context, material []byte) error {
	names := []string{k.name}
	made, err := sendFor[ImportWrappingKeyOfOneAnswer](ctx, k.client, opTransitKeysImportWrappingKey, parts{names: names, body: struct{}{}})
	if err != nil {
		return err
	}
	wrapped, err := wrapKey(made.WrappingKey, material)
	if err != nil {
		return err
	}
	body := struct {
		Ciphertext string `json:"ciphertext"`
		ImportID   string `json:"import-id"`
	}{base64.StdEncoding.EncodeToString(wrapped), made.ImportID}
	return sendOnly(ctx, k.client, opTransitKeysImport, parts{names: names, body: body})
}

// wrapKey answers RSA-OAEP of a fresh AES key, with SHA-256, followed by that key's wrap of the material, as CKM_RSA_AES_KEY_WRAP has it.
func wrapKey(wrappingKey string, material []byte) ([]byte, error) {
	block, _ := pem.Decode([]byte(wrappingKey))
	if block == nil {
		return nil, errNoWrappingKey
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, isRSA := parsed.(*rsa.PublicKey)
	if !isRSA {
		return nil, errNoWrappingKey
	}
	transport := make([]byte, 32)
	if _, err := rand.Read(transport); err != nil {
		return nil, err
	}
	sealed, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, key, transport, nil)
	if err != nil {
		return nil, err
	}
	wrapped, err := wrapPadded(transport, material)
	if err != nil {
		return nil, err
	}
	return append(sealed, wrapped...), nil
}

var errNoWrappingKey = errors.New("keystored: the wrapping key of the appliance is not an RSA key")

// wrapPadded is AES key wrap with padding (RFC 5649 section 4.1).
func wrapPadded(key, material []byte) ([]byte, error) {
	cipher, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	const half = aes.BlockSize / 2
	last := (len(material) + half - 1) / half
	out := make([]byte, half*(last+1))
	binary.BigEndian.PutUint32(out, 0xa65959a6)
	binary.BigEndian.PutUint32(out[4:], uint32(len(material)))
	copy(out[half:], material)
	if last == 1 {
		cipher.Encrypt(out, out)
		return out, nil
	}
	block := make([]byte, aes.BlockSize)
	for round := 0; round < 6; round++ {
		for at := 1; at <= last; at++ {
			copy(block, out[:half])
			copy(block[half:], out[half*at:])
			cipher.Encrypt(block, block)
			copy(out, block[:half])
			counter := binary.BigEndian.Uint64(out) ^ uint64(last*round+at)
			binary.BigEndian.PutUint64(out, counter)
			copy(out[half*at:half*(at+1)], block[half:])
		}
	}
	return out, nil
}
