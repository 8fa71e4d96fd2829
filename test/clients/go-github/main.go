// A newcomer's story with go-github, after its README.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/google/go-github/github"
	"golang.org/x/oauth2"
)

var ctx = context.Background()

func client(token string) *github.Client {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
	url := os.Getenv("BELFRY")
	made, err := github.NewEnterpriseClient(url, url, oauth2.NewClient(ctx, source))
	must(err)
	return made
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func same(expected, actual interface{}) {
	if !reflect.DeepEqual(expected, actual) {
		panic(fmt.Sprintf("expected %v, got %v", expected, actual))
	}
}

func refused(status int, err error) {
	var refusal *github.ErrorResponse
	if !errors.As(err, &refusal) {
		panic(fmt.Sprintf("no %d: %v", status, err))
	}
	same(status, refusal.Response.StatusCode)
}

func chapter(name string, steps func()) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Println("failed", name)
			fmt.Fprintln(os.Stderr, name, problem)
		} else {
			fmt.Println("works", name)
		}
	}()
	steps()
}

func main() {
	ada, ben := client(os.Getenv("ADA")), client(os.Getenv("BEN"))
	owner, name := "ada", "engine"
	fmt.Println("version", os.Getenv("VERSION"), "(Debian)")

	chapter("repositories, topics", func() {
		repo, _, err := ada.Repositories.Create(ctx, "", &github.Repository{Name: &name, AutoInit: github.Bool(true)})
		must(err)
		same("ada/engine", repo.GetFullName())
		_, _, err = ada.Repositories.Edit(ctx, owner, name, &github.Repository{Description: github.String("It counts")})
		must(err)
		repo, _, err = ben.Repositories.Get(ctx, owner, name)
		must(err)
		same("It counts", repo.GetDescription())
		_, _, err = ada.Repositories.ReplaceAllTopics(ctx, owner, name, []string{"brass"})
		must(err)
		topics, _, err := ben.Repositories.ListAllTopics(ctx, owner, name)
		must(err)
		same([]string{"brass"}, topics)
		repos, _, err := ada.Repositories.List(ctx, "", nil)
		must(err)
		same(1, len(repos))
	})

	chapter("contents", func() {
		_, _, err := ada.Repositories.CreateFile(ctx, owner, name, "docs/notes.txt", &github.RepositoryContentFileOptions{
			Message: github.String("Add notes"), Content: []byte("One\n"),
		})
		must(err)
		file, _, _, err := ben.Repositories.GetContents(ctx, owner, name, "docs/notes.txt", nil)
		must(err)
		text, err := file.GetContent()
		must(err)
		same("One\n", text)
		_, _, err = ada.Repositories.UpdateFile(ctx, owner, name, "docs/notes.txt", &github.RepositoryContentFileOptions{
			Message: github.String("Edit notes"), Content: []byte("Two\n"), SHA: file.SHA,
		})
		must(err)
		_, folder, _, err := ben.Repositories.GetContents(ctx, owner, name, "docs", nil)
		must(err)
		same("notes.txt", folder[0].GetName())
	})

	chapter("commits, comparisons, statuses", func() {
		commits, _, err := ben.Repositories.ListCommits(ctx, owner, name, &github.CommitsListOptions{Path: "docs/notes.txt"})
		must(err)
		same(2, len(commits))
		same("Edit notes", commits[0].GetCommit().GetMessage())
		commit, _, err := ben.Repositories.GetCommit(ctx, owner, name, "main", nil)
		must(err)
		same("docs/notes.txt", commit.Files[0].GetFilename())
		between, _, err := ben.Repositories.CompareCommits(ctx, owner, name, commits[1].GetSHA(), "main", nil)
		must(err)
		same(1, between.GetAheadBy())
		_, _, err = ada.Repositories.CreateStatus(ctx, owner, name, commit.GetSHA(), &github.RepoStatus{
			State: github.String("success"), Context: github.String("ci/build"),
		})
		must(err)
		combined, _, err := ben.Repositories.GetCombinedStatus(ctx, owner, name, "main", nil)
		must(err)
		same("success", combined.GetState())
		sha, _, err := ben.Repositories.GetCommitSHA1(ctx, owner, name, "main", "")
		must(err)
		same(commit.GetSHA(), sha)
	})

	chapter("check runs, deployments, branch protection", func() {
		head, _, err := ben.Repositories.GetCommit(ctx, owner, name, "main", nil)
		must(err)
		// Only apps report checks.
		_, _, err = client(os.Getenv("CHECKER")).Checks.CreateCheckRun(ctx, owner, name, github.CreateCheckRunOptions{
			Name: "unit", HeadSHA: head.GetSHA(), Conclusion: github.String("failure"),
			Output: &github.CheckRunOutput{Title: github.String("Failed"), Summary: github.String("One of two")},
		})
		must(err)
		runs, _, err := ben.Checks.ListCheckRunsForRef(ctx, owner, name, "main", nil)
		must(err)
		same("failure", runs.CheckRuns[0].GetConclusion())
		deployment, _, err := ada.Repositories.CreateDeployment(ctx, owner, name, &github.DeploymentRequest{
			Ref: github.String("main"), RequiredContexts: &[]string{},
		})
		must(err)
		_, _, err = ada.Repositories.CreateDeploymentStatus(ctx, owner, name, deployment.GetID(), &github.DeploymentStatusRequest{
			State: github.String("success"),
		})
		must(err)
		_, _, err = ada.Repositories.UpdateBranchProtection(ctx, owner, name, "main", &github.ProtectionRequest{
			RequiredStatusChecks:       &github.RequiredStatusChecks{Contexts: []string{"unit"}},
			RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1},
			EnforceAdmins:              true,
		})
		must(err)
		protection, _, err := ada.Repositories.GetBranchProtection(ctx, owner, name, "main")
		must(err)
		same("unit", protection.RequiredStatusChecks.Contexts[0])
		same(1, protection.RequiredPullRequestReviews.RequiredApprovingReviewCount)
		_, _, err = ada.Repositories.CreateFile(ctx, owner, name, "more.txt", &github.RepositoryContentFileOptions{
			Message: github.String("More"), Content: []byte("More\n"),
		})
		refused(409, err)
		_, err = ada.Repositories.RemoveBranchProtection(ctx, owner, name, "main")
		must(err)
	})

	chapter("labels, milestones", func() {
		_, _, err := ada.Issues.CreateLabel(ctx, owner, name, &github.Label{Name: github.String("noise"), Color: github.String("f29513")})
		must(err)
		milestone, _, err := ada.Issues.CreateMilestone(ctx, owner, name, &github.Milestone{Title: github.String("v1")})
		must(err)
		same(1, milestone.GetNumber())
	})

	chapter("issues, comments, reactions", func() {
		issue, _, err := ben.Issues.Create(ctx, owner, name, &github.IssueRequest{Title: github.String("It rattles")})
		must(err)
		number := issue.GetNumber()
		_, _, err = ada.Issues.AddLabelsToIssue(ctx, owner, name, number, []string{"noise"})
		must(err)
		_, _, err = ada.Issues.CreateComment(ctx, owner, name, number, &github.IssueComment{Body: github.String("Which wheel, @ben?")})
		must(err)
		_, _, err = ben.Reactions.CreateIssueReaction(ctx, owner, name, number, "heart")
		must(err)
		_, err = ada.Issues.Lock(ctx, owner, name, number, nil)
		must(err)
		_, _, err = ada.Issues.Edit(ctx, owner, name, number, &github.IssueRequest{State: github.String("closed"), Milestone: github.Int(1)})
		must(err)
		issue, _, err = ben.Issues.Get(ctx, owner, name, number)
		must(err)
		same([]interface{}{"closed", 1, "noise", true, 1}, []interface{}{
			issue.GetState(), issue.GetComments(), issue.Labels[0].GetName(), issue.GetLocked(), issue.GetReactions().GetHeart(),
		})
		_, _, err = ben.Issues.Create(ctx, owner, name, &github.IssueRequest{Title: github.String("")})
		refused(422, err)
	})

	chapter("pull requests, reviews", func() {
		main, _, err := ada.Git.GetRef(ctx, owner, name, "heads/main")
		must(err)
		_, _, err = ada.Git.CreateRef(ctx, owner, name, &github.Reference{Ref: github.String("refs/heads/quiet"), Object: main.Object})
		must(err)
		_, _, err = ada.Repositories.CreateFile(ctx, owner, name, "oil.txt", &github.RepositoryContentFileOptions{
			Message: github.String("Add oil"), Content: []byte("Oil\n"), Branch: github.String("quiet"),
		})
		must(err)
		pull, _, err := ada.PullRequests.Create(ctx, owner, name, &github.NewPullRequest{
			Title: github.String("Oil it"), Head: github.String("quiet"), Base: github.String("main"), Body: github.String("Fixes #1"),
		})
		must(err)
		number := pull.GetNumber()
		files, _, err := ben.PullRequests.ListFiles(ctx, owner, name, number, nil)
		must(err)
		same("oil.txt", files[0].GetFilename())
		review, _, err := ben.PullRequests.CreateReview(ctx, owner, name, number, &github.PullRequestReviewRequest{
			Event: github.String("COMMENT"), Body: github.String("Good"),
		})
		must(err)
		same("COMMENTED", review.GetState())
		merged, _, err := ada.PullRequests.Merge(ctx, owner, name, number, "", &github.PullRequestOptions{MergeMethod: "squash"})
		must(err)
		same(true, merged.GetMerged())
		is, _, err := ben.PullRequests.IsMerged(ctx, owner, name, number)
		must(err)
		same(true, is)
	})

	chapter("releases, release assets", func() {
		release, _, err := ada.Repositories.CreateRelease(ctx, owner, name, &github.RepositoryRelease{TagName: github.String("v1.0")})
		must(err)
		latest, _, err := ben.Repositories.GetLatestRelease(ctx, owner, name)
		must(err)
		same(release.GetID(), latest.GetID())
		file, err := os.CreateTemp("", "engine-*.txt")
		must(err)
		defer os.Remove(file.Name())
		_, err = file.WriteString("cogs")
		must(err)
		_, err = file.Seek(0, 0)
		must(err)
		asset, _, err := ada.Repositories.UploadReleaseAsset(ctx, owner, name, release.GetID(), &github.UploadOptions{Name: "engine.txt"}, file)
		must(err)
		same(4, asset.GetSize())
	})

	chapter("git data, tags, archives", func() {
		branch, _, err := ada.Repositories.GetBranch(ctx, owner, name, "main", true)
		must(err)
		sha := branch.GetCommit().GetSHA()
		tree, _, err := ada.Git.CreateTree(ctx, owner, name, sha, []*github.TreeEntry{{
			Path: github.String("parts/wheel"), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String("Brass\n"),
		}})
		must(err)
		commit, _, err := ada.Git.CreateCommit(ctx, owner, name, &github.Commit{
			Message: github.String("Add a wheel"), Tree: tree, Parents: []*github.Commit{{SHA: &sha}},
		})
		must(err)
		target := &github.Reference{Ref: github.String("refs/heads/main"), Object: &github.GitObject{SHA: commit.SHA}}
		_, _, err = ada.Git.UpdateRef(ctx, owner, name, target, false)
		must(err)
		tags, _, err := ben.Repositories.ListTags(ctx, owner, name, nil)
		must(err)
		same("v1.0", tags[0].GetName())
		link, _, err := ben.Repositories.GetArchiveLink(ctx, owner, name, github.Tarball, nil, true)
		must(err)
		same("http", link.Scheme)
	})

	chapter("stars, watching, followers, forks", func() {
		_, err := ben.Activity.Star(ctx, owner, name)
		must(err)
		stars, _, err := ada.Activity.ListStargazers(ctx, owner, name, nil)
		must(err)
		same("ben", stars[0].GetUser().GetLogin())
		same(false, stars[0].GetStarredAt().IsZero())
		_, _, err = ben.Activity.SetRepositorySubscription(ctx, owner, name, &github.Subscription{Subscribed: github.Bool(true)})
		must(err)
		_, err = ben.Users.Follow(ctx, "ada")
		must(err)
		is, _, err := ada.Users.IsFollowing(ctx, "ben", "ada")
		must(err)
		same(true, is)
		_, _, err = ben.Repositories.CreateFork(ctx, owner, name, nil)
		var accepted *github.AcceptedError
		same(true, errors.As(err, &accepted))
	})

	chapter("notifications, timelines", func() {
		// Notifications arrive a moment after their cause.
		deadline := time.Now().Add(30 * time.Second)
		threads, _, err := ben.Activity.ListNotifications(ctx, nil)
		for len(threads) == 0 && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
			threads, _, err = ben.Activity.ListNotifications(ctx, nil)
		}
		must(err)
		same(true, len(threads) > 0)
		_, err = ben.Activity.MarkNotificationsRead(ctx, time.Now())
		must(err)
		events, _, err := ben.Activity.ListRepositoryEvents(ctx, owner, name, nil)
		must(err)
		for _, event := range events {
			_, err := event.ParsePayload()
			must(err)
		}
		same("ForkEvent", events[0].GetType())
	})

	chapter("webhooks, collaborators", func() {
		hook, _, err := ada.Repositories.CreateHook(ctx, owner, name, &github.Hook{
			Config: map[string]interface{}{"url": "http://127.0.0.1:9999/hook", "content_type": "json"}, Events: []string{"push"},
		})
		must(err)
		_, err = ada.Repositories.DeleteHook(ctx, owner, name, hook.GetID())
		must(err)
		invitation, _, err := ada.Repositories.AddCollaborator(ctx, owner, name, "ben", nil)
		must(err)
		_, err = ben.Users.AcceptInvitation(ctx, invitation.GetID())
		must(err)
		is, _, err := ada.Repositories.IsCollaborator(ctx, owner, name, "ben")
		must(err)
		same(true, is)
	})

	chapter("pagination", func() {
		for number := 0; number < 5; number++ {
			_, _, err := ada.Issues.Create(ctx, owner, name, &github.IssueRequest{
				Title: github.String(fmt.Sprint("Task ", number)), Labels: &[]string{"task"},
			})
			must(err)
		}
		options := &github.IssueListByRepoOptions{Labels: []string{"task"}, ListOptions: github.ListOptions{PerPage: 2}}
		titles := ""
		for {
			issues, response, err := ben.Issues.ListByRepo(ctx, owner, name, options)
			must(err)
			for _, issue := range issues {
				titles += issue.GetTitle()[5:]
			}
			if response.NextPage == 0 {
				break
			}
			options.Page = response.NextPage
		}
		same("43210", titles)
	})

	chapter("search", func() {
		issues, _, err := ben.Search.Issues(ctx, "rattles repo:ada/engine is:closed", nil)
		must(err)
		same([]interface{}{1, "It rattles"}, []interface{}{issues.GetTotal(), issues.Issues[0].GetTitle()})
		repos, _, err := ben.Search.Repositories(ctx, "engine user:ada", nil)
		must(err)
		same("ada/engine", repos.Repositories[0].GetFullName())
		code, _, err := ben.Search.Code(ctx, "Brass repo:ada/engine", nil)
		must(err)
		same("parts/wheel", code.CodeResults[0].GetPath())
	})

	chapter("rate limit, emails, errors", func() {
		limits, _, err := ada.RateLimits(ctx)
		must(err)
		same(true, limits.GetCore().Limit > 0)
		emails, _, err := ada.Users.ListEmails(ctx, nil)
		must(err)
		same("ada@example.com", emails[0].GetEmail())
		_, _, err = ben.Repositories.Get(ctx, owner, "nothing")
		refused(404, err)
		_, _, err = client("wrong").Users.Get(ctx, "")
		refused(401, err)
	})
}
