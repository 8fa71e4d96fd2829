import json
import os
import subprocess
import unittest
import urllib.request
from pathlib import Path

from github import Github

from labels import label_bugs

SEED = Path(__file__).parent.parent / "seed.yaml"


class LabelBugs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["BELFRY"]] if "BELFRY" in os.environ else ["npx", "belfry"]
        # The server ends when its standard input is closed, so it cannot outlive the tests.
        cls.process = subprocess.Popen(
            [*command, "test-server", "--seed", str(SEED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        cls.server = json.loads(cls.process.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.stdout.close()
        cls.process.wait()

    def setUp(self):
        reset = urllib.request.Request(f"{self.server['control']}/reset", method="POST")
        urllib.request.urlopen(reset).close()
        token = self.server["users"]["dana"]["token"]
        self.client = Github(token, base_url=f"{self.server['url']}/api/v3")

    def test_an_issue_that_sounds_like_a_bug_gets_the_label(self):
        rocket = self.client.get_repo("dana/rocket")
        issue = rocket.create_issue("The valve is broken")
        self.assertEqual(label_bugs(self.client, "dana/rocket"), [issue.number])
        self.assertEqual([label.name for label in rocket.get_issue(issue.number).labels], ["bug"])

    def test_issues_of_the_seed_need_nothing(self):
        self.assertEqual(label_bugs(self.client, "dana/rocket"), [])


if __name__ == "__main__":
    unittest.main()
