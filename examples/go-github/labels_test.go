package labels

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/google/go-github/github"
)

// The line that the test server prints when it is ready.
type server struct {
	URL     string `json:"url"`
	Control string `json:"control"`
	Users   map[string]struct {
		Token string `json:"token"`
	} `json:"users"`
}

type asUser struct{ token string }

func (user asUser) RoundTrip(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+user.token)
	return http.DefaultTransport.RoundTrip(request)
}

// The server ends when its standard input is closed.
func start(t *testing.T) server {
	words := []string{"npx", "belfry"}
	if program := os.Getenv("BELFRY"); program != "" {
		words = []string{program}
	}
	words = append(words, "test-server", "--seed", "../seed.yaml")
	process := exec.Command(words[0], words[1:]...)
	process.Stderr = os.Stderr
	input, _ := process.StdinPipe()
	output, _ := process.StdoutPipe()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		process.Wait()
	})
	var ready server
	if err := json.NewDecoder(output).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	return ready
}

func (ready server) clientOf(t *testing.T, login string) *github.Client {
	transport := &http.Client{Transport: asUser{ready.Users[login].Token}}
	client, err := github.NewEnterpriseClient(ready.URL, ready.URL, transport)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCount(t *testing.T) {
	ready := start(t)
	client, ctx := ready.clientOf(t, "eli"), context.Background()
	check := func(expected map[string]int) {
		t.Helper()
		if counts, err := Count(ctx, client, "dana", "rocket"); err != nil || !reflect.DeepEqual(counts, expected) {
			t.Fatalf("expected %v, got %v, %v", expected, counts, err)
		}
	}
	check(map[string]int{"bug": 1, "waiting": 2})
	closed := "closed"
	if _, _, err := client.Issues.Edit(ctx, "dana", "rocket", 3, &github.IssueRequest{State: &closed}); err != nil {
		t.Fatal(err)
	}
	check(map[string]int{"bug": 1, "waiting": 1})
	// Back to the seed.
	response, err := http.Post(ready.Control+"/reset", "application/json", nil)
	if err != nil || response.StatusCode >= 300 {
		t.Fatal("the reset failed", err, response)
	}
	check(map[string]int{"bug": 1, "waiting": 2})
}
