// Package labels counts the open issues of a repository by label.
package labels

import (
	"context"

	"github.com/google/go-github/github"
)

// Count returns the number of open issues for each label.
func Count(ctx context.Context, client *github.Client, owner, repo string) (map[string]int, error) {
	counts := map[string]int{}
	options := &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for {
		issues, response, err := client.Issues.ListByRepo(ctx, owner, repo, options)
		if err != nil {
			return nil, err
		}
		for _, issue := range issues {
			for _, label := range issue.Labels {
				counts[label.GetName()]++
			}
		}
		if response.NextPage == 0 {
			return counts, nil
		}
		options.Page = response.NextPage
	}
}
