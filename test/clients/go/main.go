// The story (test/clients/story.ts) by oapi-codegen.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"keystored-clients/api"
)

func main() {
	if err := story(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func story(ctx context.Context) error {
	client, err := connect()
	if err != nil {
		return err
	}

	made, err := client.TransitKeysCreateWithResponse(ctx, nil, api.TransitKeyCreation{Name: "made"})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("create: %v %s", err, made.Body)
	}
	sealed, err := client.TransitKeysEncryptWithResponse(ctx, "made", api.EncryptRequest{Plaintext: "c2VjcmV0"})
	if err != nil || sealed.JSON200 == nil {
		return fmt.Errorf("encrypt: %v %s", err, sealed.Body)
	}
	opened, err := client.TransitKeysDecryptWithResponse(ctx, "made", api.DecryptRequest{Ciphertext: sealed.JSON200.Ciphertext})
	if err != nil || opened.JSON200 == nil {
		return fmt.Errorf("decrypt: %v %s", err, opened.Body)
	}

	batch, failed, err := batches(ctx, client)
	if err != nil {
		return err
	}

	signed, err := client.TransitKeysSignWithResponse(ctx, "signing", api.SignRequest{Text: "c2lnbmVk"})
	if err != nil || signed.JSON200 == nil {
		return fmt.Errorf("sign: %v %s", err, signed.Body)
	}
	verified := []bool{}
	for _, text := range []string{"c2lnbmVk", "b3RoZXI="} {
		request := api.VerifyRequest{Text: text, Signature: &signed.JSON200.Signature}
		answer, err := client.TransitKeysVerifyWithResponse(ctx, "signing", request)
		if err != nil || answer.JSON200 == nil {
			return fmt.Errorf("verify: %v %s", err, answer.Body)
		}
		verified = append(verified, answer.JSON200.Valid)
	}

	names, pages, total, err := list(ctx, client)
	if err != nil {
		return err
	}

	deletionAllowed, tokenTTL := true, "4h"
	merge, err := client.TransitKeysMergeWithResponse(ctx, "merged", nil, api.TransitKeyMerge{DeletionAllowed: &deletionAllowed})
	if err != nil || merge.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("merge: %v %s", err, merge.Body)
	}
	roleMerge, err := client.ApprolesMergeWithResponse(ctx, "merged", nil, api.ApproleMerge{TokenTtl: &tokenTTL})
	if err != nil || roleMerge.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("merge: %v %s", err, roleMerge.Body)
	}
	key, err := client.TransitKeysShowConfigWithResponse(ctx, "merged", nil)
	if err != nil || key.JSON200 == nil {
		return fmt.Errorf("show: %v %s", err, key.Body)
	}
	approle, err := client.ApprolesShowConfigWithResponse(ctx, "merged", nil)
	if err != nil || approle.JSON200 == nil {
		return fmt.Errorf("show: %v %s", err, approle.Body)
	}

	absent, err := client.TransitKeysShowConfigWithResponse(ctx, "absent", nil)
	if err != nil || absent.ApplicationproblemJSON404 == nil {
		return fmt.Errorf("not a typed problem: %v %s", err, absent.Body)
	}
	problem := absent.ApplicationproblemJSON404

	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"decrypted": opened.JSON200.Plaintext,
		"batch":     batch,
		"failed":    failed,
		"verified":  verified,
		"names":     names,
		"pages":     pages,
		"total":     total,
		"merged": map[string]any{
			"exportable":           key.JSON200.Exportable,
			"rotateAfter":          key.JSON200.AutoRotate.RotateAfter,
			"minDecryptionVersion": key.JSON200.MinDecryptionVersion,
			"uses":                 approle.JSON200.SecretIdNumUses,
		},
		"problem": map[string]any{"status": problem.Status, "code": problem.Code},
	})
}

func connect() (*api.ClientWithResponses, error) {
	pem, err := os.ReadFile(os.Getenv("KEYSTORED_CA"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEYSTORED_TOKEN"))
		return nil
	}
	withClient := api.WithHTTPClient(&http.Client{Transport: transport})
	return api.NewClientWithResponses(os.Getenv("KEYSTORED_URL"), withClient, api.WithRequestEditorFn(authorize))
}

func batches(ctx context.Context, client *api.ClientWithResponses) (batch []string, failed int64, err error) {
	references, absentVersion := []string{"a", "b", "c"}, int32(99)
	items := []api.EncryptBatchItem{
		{Plaintext: "Zmlyc3Q=", Reference: &references[0]},
		{Plaintext: "c2Vjb25k", Reference: &references[1]},
		{Plaintext: "dGhpcmQ=", Reference: &references[2], KeyVersion: &absentVersion},
	}
	sealed, err := client.TransitKeysEncryptBatchWithResponse(ctx, "made", api.EncryptBatchRequest{BatchInput: items})
	if err != nil || sealed.JSON200 == nil {
		return nil, 0, fmt.Errorf("encrypt-batch: %v %s", err, sealed.Body)
	}
	ciphertexts := []api.DecryptBatchItem{}
	for _, item := range sealed.JSON200.BatchResults {
		if item.Ciphertext != nil {
			ciphertexts = append(ciphertexts, api.DecryptBatchItem{Ciphertext: *item.Ciphertext})
		}
	}
	opened, err := client.TransitKeysDecryptBatchWithResponse(ctx, "made", api.DecryptBatchRequest{BatchInput: ciphertexts})
	if err != nil || opened.JSON200 == nil {
		return nil, 0, fmt.Errorf("decrypt-batch: %v %s", err, opened.Body)
	}
	for index, item := range sealed.JSON200.BatchResults {
		end := item.Code
		if end == nil {
			end = opened.JSON200.BatchResults[index].Plaintext
		}
		batch = append(batch, *item.Reference+":"+*end)
	}
	return batch, sealed.JSON200.Failed, nil
}

func list(ctx context.Context, client *api.ClientWithResponses) (names []string, pages, total int, err error) {
	limit := int32(2)
	params := api.TransitKeysListConfigParams{Limit: &limit}
	for more := true; more; pages++ {
		page, err := client.TransitKeysListConfigWithResponse(ctx, &params)
		if err != nil || page.JSON200 == nil {
			return nil, 0, 0, fmt.Errorf("list: %v %s", err, page.Body)
		}
		for _, key := range *page.JSON200 {
			names = append(names, key.Name)
		}
		header := page.HTTPResponse.Header
		if total, err = strconv.Atoi(header.Get("Total-Count")); err != nil {
			return nil, 0, 0, err
		}
		more = strings.Contains(header.Get("Link"), `rel="next"`)
		params.After = &names[len(names)-1]
	}
	return names, pages, total, nil
}
