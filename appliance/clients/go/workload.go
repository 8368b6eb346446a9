package keystored

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Workload is an identity that a platform signs for its workloads: GitHub, GitLab, Kubernetes, SPIFFE and others.
type Workload struct {
	// Tenant and Role name the JWT role.
	Tenant, Role string
	// Issuer names the JWT issuer, where several with the same iss have a role of this name.
	Issuer string
	// JWT answers a token of the platform, for one login: JWTFromFile, JWTFromEnvironment, or a function that asks the platform for one.
	JWT func(context.Context) (string, error)
}

// JWTFromFile reads the token from a file that the platform keeps fresh: a projected volume of Kubernetes, an SVID of a SPIFFE helper.
func JWTFromFile(path string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		octets, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("keystored: token of the platform: %w", err)
		}
		return foundJWT(string(octets), "the file "+path)
	}
}

// JWTFromEnvironment reads the token from a variable of the environment, as GitLab gives it to a job.
func JWTFromEnvironment(variable string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		return foundJWT(os.Getenv(variable), "the variable "+variable+" of the environment")
	}
}

func foundJWT(text, where string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" {
		return "", fmt.Errorf("keystored: %s holds no token of the platform", where)
	}
	return token, nil
}

// login answers the body of a login.
func (w *Workload) login(ctx context.Context) (map[string]string, error) {
	token, err := w.JWT(ctx)
	if err != nil {
		return nil, err
	}
	body := map[string]string{"tenant": w.Tenant, "role": w.Role, "jwt": token}
	if w.Issuer != "" {
		body["issuer"] = w.Issuer
	}
	return body, nil
}
