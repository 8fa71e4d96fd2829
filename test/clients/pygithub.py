"""A newcomer's story with PyGithub, after its examples."""

import os
import time
from importlib.metadata import version

from chapters import chapter
from github import Github, GithubException, InputGitTreeElement

api = os.environ["BELFRY"] + "/api/v3"
# Later versions wait a second before each write.
pace = {} if version("PyGithub").startswith("1.") else {"seconds_between_requests": 0, "seconds_between_writes": 0}


def connect(token, **options):
    return Github(base_url=api, login_or_token=token, **pace, **options)


ada = connect(os.environ["ADA"])
ben = connect(os.environ["BEN"])


def raises(status, call):
    try:
        call()
    except GithubException as error:
        assert error.status == status, error
        return error
    raise AssertionError(f"no {status}")


def eventually(steps):
    """Notifications arrive a moment after their cause."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return steps()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


print("version", version("PyGithub"), "(Debian)")


@chapter("repositories")
def _():
    repo = ada.get_user().create_repo("engine", description="It counts", auto_init=True, has_wiki=False)
    assert (repo.full_name, repo.default_branch, repo.private) == ("ada/engine", "main", False)
    repo.edit(description="It counts well", homepage="https://engine.example")
    assert ben.get_repo("ada/engine").description == "It counts well"
    assert ada.get_repo(repo.id).full_name == "ada/engine"
    assert [repo.name for repo in ada.get_user().get_repos()] == ["engine"]
    assert [branch.name for branch in repo.get_branches()] == ["main"]


@chapter("contents")
def _():
    repo = ada.get_repo("ada/engine")
    made = repo.create_file("docs/notes.txt", "Add notes", "One\n")
    assert made["commit"].sha == repo.get_branch("main").commit.sha
    file = repo.get_contents("docs/notes.txt")
    assert file.decoded_content == b"One\n"
    repo.update_file(file.path, "Edit notes", "Two\n", file.sha)
    assert [file.path for file in repo.get_contents("")] == ["README.md", "docs"]
    raises(409, lambda: repo.update_file(file.path, "Edit again", "Three\n", file.sha))
    raises(404, lambda: repo.get_contents("nothing.txt"))


@chapter("labels, milestones")
def _():
    repo = ada.get_repo("ada/engine")
    label = repo.create_label("sound", "f29513", "Too loud")
    label.edit("noise", "000000")
    assert repo.get_label("noise").color == "000000"
    milestone = repo.create_milestone("v1", description="The first")
    assert (milestone.number, milestone.state) == (1, "open")


@chapter("issues, comments")
def _():
    repo = ada.get_repo("ada/engine")
    issue = ben.get_repo("ada/engine").create_issue("It rattles", "Always")
    mine = repo.get_issue(issue.number)
    mine.add_to_labels("noise")
    mine.edit(milestone=repo.get_milestone(1), assignees=["ada"])
    comment = mine.create_comment("Which wheel, @ben?")
    comment.edit("Which one, @ben?")
    mine.edit(state="closed")
    issue = ben.get_repo("ada/engine").get_issue(issue.number)
    assert (issue.state, issue.comments, issue.milestone.title) == ("closed", 1, "v1")
    assert [label.name for label in issue.labels] == ["noise"]
    assert [user.login for user in issue.assignees] == ["ada"]
    assert [comment.body for comment in issue.get_comments()] == ["Which one, @ben?"]
    # A job records mentions, perhaps after the issue was closed.
    acts = [event.event for event in issue.get_events() if event.event not in ("mentioned", "subscribed")]
    assert acts[-1] == "closed"
    mine.lock("resolved")
    mine.unlock()
    raises(422, lambda: repo.create_issue(""))


@chapter("pull requests, reviews")
def _():
    repo = ada.get_repo("ada/engine")
    repo.create_git_ref("refs/heads/quiet", repo.get_branch("main").commit.sha)
    repo.create_file("oil.txt", "Add oil", "Oil\n", branch="quiet")
    pull = repo.create_pull(title="Oil it", body="Fixes #1", head="quiet", base="main")
    assert (pull.state, pull.mergeable, pull.changed_files) == ("open", True, 1)
    assert [file.filename for file in pull.get_files()] == ["oil.txt"]
    assert [commit.commit.message for commit in pull.get_commits()] == ["Add oil"]
    theirs = ben.get_repo("ada/engine").get_pull(pull.number)
    review = theirs.create_review(body="Good", event="COMMENT")
    assert review.state == "COMMENTED"
    pull.create_issue_comment("Thanks")
    assert [review.user.login for review in pull.get_reviews()] == ["ben"]
    assert pull.merge(merge_method="squash").merged
    assert pull.is_merged()
    assert [pull.title for pull in repo.get_pulls(state="closed")] == ["Oil it"]


@chapter("releases")
def _():
    repo = ada.get_repo("ada/engine")
    release = repo.create_git_release("v1.0", "One", "The first")
    assert (release.tag_name, release.draft) == ("v1.0", False)
    assert repo.get_latest_release().id == release.id
    assert repo.get_release("v1.0").title == "One"
    release.update_release("One!", "The first")
    assert [release.title for release in repo.get_releases()] == ["One!"]


@chapter("git data, tags, archives")
def _():
    repo = ada.get_repo("ada/engine")
    parent = repo.get_git_commit(repo.get_branch("main").commit.sha)
    wheel = InputGitTreeElement("parts/wheel", "100644", "blob", content="Brass\n")
    commit = repo.create_git_commit("Add a wheel", repo.create_git_tree([wheel], parent.tree), [parent])
    repo.get_git_ref("heads/main").edit(commit.sha)
    assert repo.get_contents("parts/wheel").decoded_content == b"Brass\n"
    assert repo.get_commits()[0].commit.message == "Add a wheel"
    assert [tag.name for tag in repo.get_tags()] == ["v1.0"]
    assert repo.get_archive_link("tarball", "v1.0").startswith("http")


@chapter("stars, watching, followers")
def _():
    repo = ben.get_repo("ada/engine")
    ben.get_user().add_to_starred(repo)
    assert ben.get_user().has_in_starred(repo)
    assert [user.login for user in repo.get_stargazers()] == ["ben"]
    assert [star.user.login for star in repo.get_stargazers_with_dates()] == ["ben"]
    ben.get_user().add_to_subscriptions(repo)
    assert sorted(user.login for user in repo.get_subscribers()) == ["ada", "ben"]
    ben.get_user().add_to_following(ben.get_user("ada"))
    assert [user.login for user in ada.get_user().get_followers()] == ["ben"]


@chapter("notifications")
def _():
    def arrived():
        titles = [thread.subject.title for thread in ben.get_user().get_notifications()]
        assert "It rattles" in titles, titles

    def read():
        for thread in ben.get_user().get_notifications():
            thread.mark_as_read()
        assert ben.get_user().get_notifications().totalCount == 0

    eventually(arrived)
    eventually(read)


@chapter("timelines")
def _():
    types = [event.type for event in ben.get_repo("ada/engine").get_events()]
    assert {"PushEvent", "IssuesEvent", "PullRequestEvent", "ReleaseEvent", "WatchEvent"} <= set(types), types


@chapter("webhooks")
def _():
    repo = ada.get_repo("ada/engine")
    hook = repo.create_hook("web", {"url": "http://127.0.0.1:9999/hook", "content_type": "json"}, ["push"], True)
    hook.edit("web", hook.config, add_events=["issues"])
    assert sorted(repo.get_hook(hook.id).events) == ["issues", "push"]
    hook.delete()
    raises(404, lambda: repo.get_hook(hook.id))


@chapter("collaborators, forks")
def _():
    repo = ada.get_repo("ada/engine")
    invitation = repo.add_to_collaborators("ben", "push")
    ben.get_user().accept_invitation(invitation.id)
    assert repo.has_in_collaborators("ben")
    assert repo.get_collaborator_permission("ben") == "write"
    fork = ben.get_user().create_fork(ben.get_repo("ada/engine"))
    assert (fork.full_name, fork.fork, fork.parent.full_name) == ("ben/engine", True, "ada/engine")


@chapter("pagination")
def _():
    repo = ada.get_repo("ada/engine")
    for number in range(5):
        repo.create_issue(f"Task {number}", labels=["task"])
    pages = connect(os.environ["BEN"], per_page=2)
    tasks = pages.get_repo("ada/engine").get_issues(labels=["task"])
    assert tasks.totalCount == 5
    assert [issue.title for issue in tasks] == [f"Task {number}" for number in (4, 3, 2, 1, 0)]
    assert [issue.title for issue in tasks.reversed] == [f"Task {number}" for number in range(5)]
    assert len(tasks.get_page(2)) == 1


@chapter("search")
def _():
    found = ben.search_issues("rattles", repo="ada/engine", state="closed")
    assert (found.totalCount, found[0].title) == (1, "It rattles")
    assert [repo.full_name for repo in ben.search_repositories("engine", user="ada")] == ["ada/engine"]
    assert [file.path for file in ben.search_code("Brass", repo="ada/engine")] == ["parts/wheel"]


@chapter("rate limit, emails, errors")
def _():
    limits = ada.get_rate_limit()
    assert getattr(limits, "resources", limits).core.limit > 0
    assert [email.email for email in ada.get_user().get_emails()] == ["ada@example.com"]
    raises(404, lambda: ben.get_repo("ada/nothing"))
    raises(401, lambda: connect("wrong").get_user().login)

