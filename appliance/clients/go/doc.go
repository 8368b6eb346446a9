// Package keystored is the client of a keystored appliance: transit keys, certificates, logins and their management over /v1.
//
// A [Client] is made once and shared: it is safe for use by many goroutines. It logs in, renews its token before it ends, goes on to the
// next address when one is away, and repeats what can be repeated without harm. Its fields are the groups of operations of the API
// description, one method each; [Client.Key] adds what works with octets, batches and streams.
//
//	client, err := keystored.New(keystored.Config{
//		Addresses: []string{"https://keys.example:4646"},
//		CAPEM:     caPEM,
//		RoleID:    roleID,
//		SecretID:  secretID,
//	})
//	ciphertext, err := client.Key("orders").Encrypt(ctx, []byte("card 4711"))
//
// A refusal of the appliance is a [*Problem]; [errors.As] finds it. An answer that never came is a [*TransportError].
package keystored
