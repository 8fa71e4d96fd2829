"""Adds the label `bug` to open issues whose title sounds like one."""

import os

from github import Github

WORDS = ("leak", "crash", "fail", "broken")


def label_bugs(client, full_name):
    """Returns the numbers of the issues that it labels."""
    labelled = []
    for issue in client.get_repo(full_name).get_issues(state="open"):
        names = {label.name for label in issue.labels}
        if "bug" not in names and any(word in issue.title.lower() for word in WORDS):
            issue.add_to_labels("bug")
            labelled.append(issue.number)
    return labelled


if __name__ == "__main__":
    client = Github(os.environ["TOKEN"], base_url=os.environ["API_URL"])
    print("Labelled:", label_bugs(client, os.environ["REPOSITORY"]))
