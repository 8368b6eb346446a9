package keystored

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	defaultTimeLimit = 60 * time.Second
	defaultAttempts  = 4
	defaultMostWait  = 30 * time.Second
	connectTimeLimit = 5 * time.Second
)

// Config says where the appliance is and who the caller is. Addresses and one of Token, RoleID with SecretID, or Workload are needed for
// most operations; public ones need none.
type Config struct {
	// Addresses are the base addresses of the appliance and its replicas, such as "https://keys.example:4646", in order of preference.
	// "http://" is accepted for loopback addresses only, because tokens and plaintexts travel in the requests.
	Addresses []string
	// CAPEM holds the certificates that are trusted, in PEM, and no others are. Empty: those of the machine.
	CAPEM []byte

	// Token authenticates the requests. It is renewed while it can be.
	Token string
	// RoleID and SecretID are exchanged for a token, and again when that token has ended.
	RoleID, SecretID string
	// Workload is the identity that a platform signs. Its token is read again for every login.
	Workload *Workload

	// TimeLimit bounds a call with its repetitions, unless its context ends before. Default: 60 s; below zero: none.
	TimeLimit time.Duration
	// Attempts bounds how often a request is sent to all addresses. Default: 4; 1: no repetition.
	Attempts int
	// MostWait is the longest pause between two attempts. An appliance that asks for a longer one ends the call with its problem.
	// Default: 30 s.
	MostWait time.Duration
	// Product stands before the name of this library in User-Agent, for example "billing/2.1".
	Product string
	// RoundTripper replaces the connection to the appliance, for example by one that traces. CAPEM must then be empty.
	RoundTripper http.RoundTripper
}

// String leaves out what is secret.
func (c Config) String() string {
	return fmt.Sprintf("keystored.Config{Addresses: %q, RoleID: %q}", c.Addresses, c.RoleID)
}

// GoString leaves out what is secret.
func (c Config) GoString() string { return c.String() }

// LogValue leaves out what is secret.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText refuses: a configuration holds secrets.
func (c Config) MarshalText() ([]byte, error) {
	return nil, errors.New("keystored: a Config holds secrets and is not written")
}

func (c Config) check() error {
	switch {
	case len(c.Addresses) == 0:
		return errors.New("keystored: Config.Addresses is empty")
	case c.identities() > 1:
		return errors.New("keystored: give one of Config.Token, Config.RoleID with Config.SecretID, and Config.Workload")
	case c.Workload != nil && (c.Workload.Tenant == "" || c.Workload.Role == "" || c.Workload.JWT == nil):
		return errors.New("keystored: Config.Workload needs Tenant, Role and JWT")
	case (c.RoleID == "") != (c.SecretID == ""):
		return errors.New("keystored: Config.RoleID and Config.SecretID belong together")
	case c.RoundTripper != nil && len(c.CAPEM) > 0:
		return errors.New("keystored: Config.RoundTripper brings its own trust; leave Config.CAPEM empty")
	case c.Attempts < 0:
		return errors.New("keystored: Config.Attempts is below zero")
	case strings.ContainsAny(c.Token, "\r\n"):
		return errors.New("keystored: Config.Token has a line end; trim what was read from a file")
	}
	return nil
}

// identities counts the ways to authenticate that were given.
func (c Config) identities() int {
	count := 0
	for _, isGiven := range []bool{c.Token != "", c.RoleID != "" || c.SecretID != "", c.Workload != nil} {
		if isGiven {
			count++
		}
	}
	return count
}

// baseAddresses answers the addresses without a slash at the end.
func (c Config) baseAddresses() ([]string, error) {
	bases := make([]string, 0, len(c.Addresses))
	for _, address := range c.Addresses {
		parsed, err := url.Parse(address)
		switch {
		case err != nil:
			return nil, fmt.Errorf("keystored: address: %w", err)
		case parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
			return nil, fmt.Errorf("keystored: address %q is not of the form https://host:port", parsed.Redacted())
		case parsed.Scheme == "http" && !isLoopback(parsed.Hostname()):
			return nil, fmt.Errorf("keystored: address %q: http is for loopback addresses only", address)
		case parsed.Scheme != "http" && parsed.Scheme != "https":
			return nil, fmt.Errorf("keystored: address %q: the scheme must be https", address)
		}
		bases = append(bases, strings.TrimRight(address, "/"))
	}
	return bases, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (c Config) roundTripper() (http.RoundTripper, error) {
	if c.RoundTripper != nil {
		return c.RoundTripper, nil
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.CAPEM) > 0 {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(c.CAPEM) {
			return nil, errors.New("keystored: Config.CAPEM holds no certificate in PEM")
		}
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTimeLimit}).DialContext,
		TLSClientConfig:     trust,
		TLSHandshakeTimeout: connectTimeLimit,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
	}, nil
}
