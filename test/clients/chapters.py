"""The chapters of a story, which test/clients/programs.ts reads."""

import traceback


def chapter(name):
    def run(steps):
        try:
            steps()
            print("works", name)
        except Exception:
            print("failed", name)
            traceback.print_exc()

    return run
