// The story (test/interop/vault-clients.test.ts) by HashiCorp's client, with "seal" by the client of a transit seal, and others by name.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"
	"github.com/hashicorp/vault/api"
)

type values = map[string]any

func main() {
	if strings.Join(os.Args[1:], " ") == "sealed-service" {
		serveSealed()
		return
	}
	client := must(api.NewClient(api.DefaultConfig()))
	report := values{}
	name := os.Getenv("KEY")
	switch strings.Join(os.Args[1:], " ") {
	case "seal":
		seal(client, report)
	case "openbao":
		byOpenBao(name, report)
	case "sigstore":
		bySigstore(client, name, report)
	case "tink":
		byTink(client, name, report)
	case "certificates":
		certificates(client, report)
	default:
		story(client, name, report)
	}
	must(0, json.NewEncoder(os.Stdout).Encode(report))
}

func story(client *api.Client, name string, report values) {
	health, seal := must(client.Sys().Health()), must(client.Sys().SealStatus())
	initialized := must(client.Sys().InitStatus())
	report["service"] = values{"initialized": health.Initialized, "sealed": []bool{health.Sealed, seal.Sealed, !initialized}}
	write := func(path string, data values) values {
		if secret := must(client.Logical().Write(path, data)); secret != nil {
			return secret.Data
		}
		return nil
	}

	credentials := values{"role_id": os.Getenv("ROLE_ID"), "secret_id": "wrong"}
	_, wrong := client.Logical().Write("auth/approle/login", credentials)
	credentials["secret_id"] = os.Getenv("SECRET_ID")
	login := must(client.Logical().Write("auth/approle/login", credentials))
	client.SetToken(login.Auth.ClientToken)
	self := must(client.Auth().Token().LookupSelf())
	me := self.Data
	report["login"] = values{
		"wrong":         refusal(wrong),
		"authenticated": must(self.TokenID()) == client.Token(),
		"same":          me["accessor"] == login.Auth.Accessor && me["id"] == client.Token(),
		"who":           me["display_name"],
		"renewable":     must(self.TokenIsRenewable()) && login.Auth.Renewable,
		"ttl":           must(self.TokenTTL()).Seconds(),
	}

	report["accessor"] = must(client.Auth().Token().LookupAccessor(login.Auth.Accessor)).Data["display_name"]
	mounts, logins := must(client.Sys().ListMounts()), must(client.Sys().ListAuth())
	report["mounts"] = []string{mounts["transit/"].Type, logins["approle/"].Type}
	write("transit/keys/"+name, nil)
	may := must(client.Sys().CapabilitiesSelf("transit/encrypt/" + name))
	report["capabilities"] = [][]string{may, must(client.Sys().CapabilitiesSelf("transit/export/" + name))}
	absent, err := client.Logical().Read("transit/keys/absent")
	report["absent"] = fmt.Sprint(absent == nil, err)
	write("transit/keys/"+name+"-ecdsa", values{"type": "ecdsa-p256"})
	write("transit/keys/"+name+"-ed25519", values{"type": "ed25519"})
	first := write("transit/encrypt/"+name, values{"plaintext": octets("first")})["ciphertext"].(string)
	write("transit/encrypt/"+name+"-upserted", values{"plaintext": octets("made")})
	report["keys"] = named(must(client.Logical().List("transit/keys")), name)

	opened := []string{textOf(write("transit/decrypt/"+name, values{"ciphertext": first})["plaintext"])}
	write("transit/keys/"+name+"/rotate", nil)
	rewrapped := write("transit/rewrap/"+name, values{"ciphertext": first})["ciphertext"].(string)
	report["opened"] = append(opened, textOf(write("transit/decrypt/"+name, values{"ciphertext": rewrapped})["plaintext"]))
	report["prefixes"] = []string{first[:9], rewrapped[:9]}
	_, undeletable := client.Logical().Delete("transit/keys/" + name)
	write("transit/keys/"+name+"/config", values{"min_decryption_version": 2, "deletion_allowed": true})
	read, fields := must(client.Logical().Read("transit/keys/"+name)).Data, values{}
	for _, field := range []string{"type", "latest_version", "min_decryption_version", "deletion_allowed"} {
		fields[field] = read[field]
	}
	report["read"] = fields
	_, tooOld := client.Logical().Write("transit/decrypt/"+name, values{"ciphertext": first})
	report["tooOld"] = refusal(tooOld)
	trimmed := write("transit/keys/"+name+"/trim", values{"min_available_version": 2})
	report["trimmed"] = []any{trimmed["min_available_version"], slices.Collect(maps.Keys(trimmed["keys"].(values)))}

	dataKey := write("transit/datakey/plaintext/"+name, values{"bits": 128})
	report["dataKey"] = write("transit/decrypt/"+name, values{"ciphertext": dataKey["ciphertext"]})["plaintext"] == dataKey["plaintext"]
	_, isShown := write("transit/datakey/wrapped/"+name, nil)["plaintext"]
	report["wrappedAlone"] = !isShown
	report["verified"] = verified(write, name)
	report["random"] = len(write("transit/random/24", values{"format": "hex"})["random_bytes"].(string))
	report["batch"] = batch(write, name)

	must(client.Logical().Delete("transit/keys/" + name))
	gone, err := client.Logical().Read("transit/keys/" + name)
	report["deleted"] = []string{refusal(undeletable), fmt.Sprint(gone == nil, err)}

	renewed := must(client.Auth().Token().RenewSelf(1800)).Auth
	report["renewed"] = []any{renewed.ClientToken == client.Token(), renewed.LeaseDuration}
	must(0, client.Auth().Token().RevokeSelf(""))
	_, revoked := client.Auth().Token().LookupSelf()
	report["revoked"] = refusal(revoked)
}

func verified(write func(string, values) values, name string) []any {
	results := []any{}
	verify := func(path string, field string, value any) {
		for _, text := range []string{"signed", "other"} {
			results = append(results, write("transit/verify/"+path, values{"input": octets(text), field: value})["valid"])
		}
	}
	for _, key := range []string{name + "-ecdsa", name + "-ed25519"} {
		verify(key, "signature", write("transit/sign/"+key, values{"input": octets("signed")})["signature"])
	}
	verify(name+"/sha2-512", "hmac", write("transit/hmac/"+name+"/sha2-512", values{"input": octets("signed")})["hmac"])
	return results
}

func batch(write func(string, values) values, name string) []string {
	items, ciphertexts, results := []values{}, []values{}, []string{}
	for _, text := range []string{"a", "b"} {
		items = append(items, values{"plaintext": octets(text), "reference": text})
	}
	sealed := write("transit/encrypt/"+name, values{"batch_input": items})["batch_results"].([]any)
	for _, item := range sealed {
		ciphertexts = append(ciphertexts, values{"ciphertext": item.(values)["ciphertext"]})
	}
	opened := write("transit/decrypt/"+name, values{"batch_input": ciphertexts})["batch_results"].([]any)
	for at, item := range sealed {
		results = append(results, fmt.Sprint(item.(values)["reference"], ":", textOf(opened[at].(values)["plaintext"])))
	}
	return results
}

// The seal's life: refused without its key, started, a value before and after a rotation, both opened.
// The token of the environment may encrypt and decrypt with the key SEAL_KEY, ADMIN_TOKEN may rotate it.
func seal(admin *api.Client, report values) {
	ctx, key := context.Background(), os.Getenv("SEAL_KEY")
	start := func(key string) (*transit.Wrapper, error) {
		wrapper := transit.NewWrapper()
		_, err := wrapper.SetConfig(ctx, transit.WithMountPath("transit"), transit.WithKeyName(key))
		return wrapper, err
	}
	_, err := start("absent")
	report["withoutKey"] = refusal(err)
	wrapper := must(start(key))
	ids := []string{must(wrapper.KeyId(ctx))}
	sealed := []*wrapping.BlobInfo{must(wrapper.Encrypt(ctx, []byte("before")))}
	admin.SetToken(os.Getenv("ADMIN_TOKEN"))
	must(admin.Logical().Write("transit/keys/"+key+"/rotate", nil))
	sealed = append(sealed, must(wrapper.Encrypt(ctx, []byte("after"))))
	report["keyIds"] = append(ids, sealed[0].KeyInfo.KeyId, sealed[1].KeyInfo.KeyId, must(wrapper.KeyId(ctx)))
	must(0, wrapper.Finalize(ctx))

	// Another process, as after a restart.
	restarted, opened := must(start(key)), []string{}
	for _, blob := range sealed {
		opened = append(opened, string(must(restarted.Decrypt(ctx, blob))))
	}
	report["opened"] = opened
	// Another letter of base64, so that the octets are wrong and not their form.
	if at := len(sealed[1].Ciphertext) - 6; sealed[1].Ciphertext[at] == 'A' {
		sealed[1].Ciphertext[at] = 'B'
	} else {
		sealed[1].Ciphertext[at] = 'A'
	}
	_, err = restarted.Decrypt(ctx, sealed[1])
	report["tampered"] = refusal(err)
	must(0, restarted.Finalize(ctx))
}

func named(list *api.Secret, name string) []string {
	found := []string{}
	for _, key := range list.Data["keys"].([]any) {
		if strings.HasPrefix(key.(string), name) {
			found = append(found, key.(string))
		}
	}
	return found
}

func octets(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func textOf(encoded any) string {
	return string(must(base64.StdEncoding.DecodeString(encoded.(string))))
}

func refusal(err error) string {
	var answer *api.ResponseError
	if errors.As(err, &answer) {
		return fmt.Sprintf("%d: %s", answer.StatusCode, strings.Join(answer.Errors, "; "))
	}
	return fmt.Sprint(err)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
