package keystored

import (
	"context"
	"crypto"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"time"
)

// OpenPGPOptions are those of a signature; zero values leave out.
type OpenPGPOptions struct {
	// ExpiresAfter is a duration such as "90d"; empty: without limit.
	ExpiresAfter string
}

// The date of a signature is in its trailer, which is asked for again when hashing took longer.
const freshTrailer = time.Minute

var openpgpHashes = map[OpenpgpTrailerAnswerHashAlgorithm]crypto.Hash{
	OpenpgpTrailerAnswerHashAlgorithmSha256: crypto.SHA256,
	OpenpgpTrailerAnswerHashAlgorithmSha384: crypto.SHA384,
	OpenpgpTrailerAnswerHashAlgorithmSha512: crypto.SHA512,
}

// SignOpenPGP signs any amount of data with an OpenPGP key, hashed here in constant memory, and answers the detached signature in armor.
// The token needs execute of openpgp-trailer and openpgp-sign-digest, and of certify-subkey for a primary key. Of the options of the key,
// KeyVersion counts.
func (k *Key) SignOpenPGP(ctx context.Context, source io.Reader, options OpenPGPOptions) (string, error) {
	wanted := OpenpgpTrailerRequest{}
	if k.options.KeyVersion != 0 {
		wanted.KeyVersion = &k.options.KeyVersion
	}
	if options.ExpiresAfter != "" {
		wanted.ExpiresAfter = &options.ExpiresAfter
	}
	ask := func() (*OpenpgpTrailerAnswer, error) {
		return sendFor[OpenpgpTrailerAnswer](ctx, k.client, opTransitKeysOpenpgpTrailer, parts{names: []string{k.name}, body: wanted})
	}
	asked := time.Now()
	trailer, err := ask()
	if err != nil {
		return "", err
	}
	algorithm, known := openpgpHashes[trailer.HashAlgorithm]
	if !known {
		return "", fmt.Errorf("keystored: the hash %q is not known here", trailer.HashAlgorithm)
	}
	hash := algorithm.New()
	if _, err := io.Copy(hash, source); err != nil {
		return "", err
	}
	if time.Since(asked) > freshTrailer {
		wanted.KeyVersion = &trailer.KeyVersion
		if trailer, err = ask(); err != nil {
			return "", err
		}
	}
	octets, err := base64.StdEncoding.DecodeString(trailer.Trailer)
	if err != nil {
		return "", err
	}
	hash.Write(octets)
	body := OpenpgpSignDigestRequest{Trailer: trailer.Trailer, Digest: base64.StdEncoding.EncodeToString(hash.Sum(nil))}
	answer, err := sendFor[OpenpgpSignDigestAnswer](ctx, k.client, opTransitKeysOpenpgpSignDigest, parts{names: []string{k.name}, body: body})
	if err != nil {
		return "", err
	}
	return answer.Signature, nil
}
