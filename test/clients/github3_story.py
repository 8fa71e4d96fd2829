"""A newcomer's story with github3.py, after its documentation."""

import io
import os
import time

from chapters import chapter
import github3

web = os.environ["BELFRY"]


def connect(token):
    return github3.enterprise_login(token=token, url=web)


ada = connect(os.environ["ADA"])
ben = connect(os.environ["BEN"])


def same(expected, actual):
    assert expected == actual, f"expected {expected!r}, got {actual!r}"


def refused(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind}")


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


print("version", github3.__version__, "(PyPI)")


@chapter("repositories, topics")
def _():
    repo = ada.create_repository("engine", description="It counts", auto_init=True)
    same("ada/engine", repo.full_name)
    same(True, repo.edit("engine", description="It counts well"))
    same("It counts well", ben.repository("ada", "engine").description)
    same(["ada/engine"], [repo.full_name for repo in ada.repositories()])
    repo.replace_topics(["brass"])
    same(["brass"], ben.repository("ada", "engine").topics().names)


@chapter("contents")
def _():
    repo = ada.repository("ada", "engine")
    repo.create_file("docs/notes.txt", "Add notes", b"One\n")
    file = repo.file_contents("docs/notes.txt")
    same(b"One\n", file.decoded)
    file.update("Edit notes", b"Two\n")
    same(["notes.txt"], [name for name, _ in repo.directory_contents("docs")])


@chapter("commits, comparisons, statuses")
def _():
    repo = ada.repository("ada", "engine")
    commits = list(repo.commits(path="docs/notes.txt"))
    same(["Edit notes", "Add notes"], [commit.message for commit in commits])
    same("docs/notes.txt", repo.commit("main").files[0]["filename"])
    same(1, repo.compare_commits(commits[1].sha, "main").ahead_by)
    repo.create_status(commits[0].sha, "success", context="ci/build")
    same("success", repo.commit("main").status().state)


@chapter("labels, milestones")
def _():
    repo = ada.repository("ada", "engine")
    same("noise", repo.create_label("noise", "f29513").name)
    same(1, repo.create_milestone("v1").number)


@chapter("issues, comments")
def _():
    issue = ben.repository("ada", "engine").create_issue("It rattles", "Always")
    same("<p>Always</p>", issue.body_html.strip())
    mine = ada.issue("ada", "engine", issue.number)
    mine.add_labels("noise")
    same("Which wheel, @ben?", mine.create_comment("Which wheel, @ben?").body)
    mine.edit(milestone=1, assignees=["ada"])
    same(True, mine.lock())
    same(True, mine.unlock())
    mine.close()
    shown = ben.issue("ada", "engine", issue.number)
    same(("closed", 1, "v1"), (shown.state, shown.comments_count, shown.milestone.title))
    same(["Which wheel, @ben?"], [comment.body for comment in shown.comments()])


@chapter("pull requests, reviews")
def _():
    repo = ada.repository("ada", "engine")
    repo.create_ref("refs/heads/quiet", repo.branch("main").commit.sha)
    repo.create_file("oil.txt", "Add oil", b"Oil\n", branch="quiet")
    pull = repo.create_pull("Oil it", "main", "quiet", "Fixes #1")
    pull = repo.pull_request(pull.number)
    same(["oil.txt"], [file.filename for file in pull.files()])
    review = ben.repository("ada", "engine").pull_request(pull.number).create_review("Good", event="COMMENT")
    same("COMMENTED", review.state)
    same(True, pull.merge(merge_method="squash"))
    same(True, pull.is_merged())


@chapter("releases")
def _():
    repo = ada.repository("ada", "engine")
    release = repo.create_release("v1.0", name="One")
    same(release.id, repo.latest_release().id)
    same(True, release.edit(name="One!"))


@chapter("git data, tags, archives")
def _():
    repo = ada.repository("ada", "engine")
    parent = repo.branch("main").commit.sha
    wheel = {"path": "parts/wheel", "mode": "100644", "type": "blob", "content": "Brass\n"}
    tree = repo.create_tree([wheel], base_tree=repo.git_commit(parent).tree.sha)
    commit = repo.create_commit("Add a wheel", tree.sha, [parent])
    same(True, repo.ref("heads/main").update(commit.sha))
    same("Add a wheel", next(iter(repo.commits())).message)
    same(["v1.0"], [tag.name for tag in repo.tags()])
    archive = io.BytesIO()
    same(True, repo.archive("tarball", archive, "v1.0"))
    same(b"\x1f\x8b", archive.getvalue()[:2])


@chapter("stars, watching, followers, forks")
def _():
    same(True, ben.star("ada", "engine"))
    same(True, ben.is_starred("ada", "engine"))
    repo = ben.repository("ada", "engine")
    same(["ben"], [user.login for user in repo.stargazers()])
    same(True, repo.subscribe().subscribed)
    same(True, ben.follow("ada"))
    same("ben/engine", repo.create_fork().full_name)


@chapter("notifications, timelines")
def _():
    def arrived():
        threads = list(ben.notifications())
        assert "It rattles" in [thread.subject["title"] for thread in threads], threads
        return threads

    same(True, eventually(arrived)[0].mark())
    same("ForkEvent", next(iter(ben.repository("ada", "engine").events())).type)


@chapter("webhooks, collaborators")
def _():
    repo = ada.repository("ada", "engine")
    hook = repo.create_hook("web", {"url": "http://127.0.0.1:9999/hook", "content_type": "json"}, ["push"])
    same(True, hook.delete())
    repo.add_collaborator("ben")
    same(True, next(iter(ben.repository_invitations())).accept())
    same(True, repo.is_collaborator("ben"))


@chapter("pagination")
def _():
    for number in range(5):
        ada.repository("ada", "engine").create_issue(f"Task {number}", labels=["task"])
    tasks = ben.issues_on("ada", "engine", labels="task", number=-1)
    tasks.params["per_page"] = 2
    same("43210", "".join(issue.title[5:] for issue in tasks))


@chapter("search")
def _():
    same(["It rattles"], [found.issue.title for found in ben.search_issues("rattles repo:ada/engine is:closed")])
    same(["ada/engine"], [found.repository.full_name for found in ben.search_repositories("engine user:ada")])


@chapter("rate limit, emails, errors")
def _():
    assert ada.rate_limit()["resources"]["core"]["limit"] > 0
    same(["ada@example.com"], [email.email for email in ada.emails()])
    refused(github3.exceptions.NotFoundError, lambda: ben.repository("ada", "nothing"))
    refused(github3.exceptions.AuthenticationFailed, lambda: connect("wrong").me())
