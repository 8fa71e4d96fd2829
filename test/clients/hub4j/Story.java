import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.kohsuke.github.*;

/** A newcomer's story with hub4j, after its documentation. */
public class Story {
  interface Steps {
    void run() throws Exception;
  }

  static void chapter(String name, Steps steps) {
    try {
      steps.run();
      System.out.println("works " + name);
    } catch (Throwable problem) {
      System.out.println("failed " + name);
      problem.printStackTrace();
    }
  }

  static void same(Object expected, Object actual) {
    if (!Objects.equals(expected, actual)) throw new AssertionError("expected " + expected + ", got " + actual);
  }

  static void refused(Class<? extends Exception> kind, Steps steps) throws Exception {
    try {
      steps.run();
    } catch (Exception refusal) {
      if (kind.isInstance(refusal)) return;
      throw refusal;
    }
    throw new AssertionError("no " + kind);
  }

  static GitHub connect(String token) throws Exception {
    return new GitHubBuilder().withEndpoint(System.getenv("BELFRY") + "/api/v3").withOAuthToken(token).build();
  }

  public static void main(String[] words) throws Exception {
    System.out.println("version " + System.getenv("VERSION") + " (Maven)");
    GitHub ada = connect(System.getenv("ADA"));
    GitHub ben = connect(System.getenv("BEN"));
    String name = "ada/engine";

    chapter("repositories", () -> {
      same(true, ada.isCredentialValid());
      GHRepository repo = ada.createRepository("engine").description("It counts").autoInit(true).create();
      same(name, repo.getFullName());
      repo.setDescription("It counts well");
      same("It counts well", ben.getRepository(name).getDescription());
      same(List.of("main"), List.copyOf(repo.getBranches().keySet()));
      same(true, ada.getMyself().getRepositories().containsKey("engine"));
    });

    chapter("topics", () -> {
      GHRepository repo = ada.getRepository(name);
      repo.setTopics(List.of("brass", "engines"));
      same(List.of("brass", "engines"), ben.getRepository(name).listTopics());
    });

    chapter("contents", () -> {
      GHRepository repo = ada.getRepository(name);
      repo.createContent().path("docs/notes.txt").content("One\n").message("Add notes").commit();
      GHContent file = repo.getFileContent("docs/notes.txt");
      same("One\n", new String(file.read().readAllBytes()));
      file.update("Two\n", "Edit notes");
      same(List.of("notes.txt"), repo.getDirectoryContent("docs").stream().map(GHContent::getName).collect(Collectors.toList()));
    });

    chapter("commits, statuses", () -> {
      GHRepository repo = ada.getRepository(name);
      List<GHCommit> commits = repo.queryCommits().path("docs/notes.txt").list().toList();
      same(2, commits.size());
      same("Edit notes", commits.get(0).getCommitShortInfo().getMessage());
      GHCommit commit = repo.getCommit(commits.get(0).getSHA1());
      same("docs/notes.txt", commit.listFiles().toList().get(0).getFileName());
      same(1, repo.getCompare(commits.get(1), commits.get(0)).getAheadBy());
      repo.createCommitStatus(commit.getSHA1(), GHCommitState.SUCCESS, "https://ci.example", "Built", "ci/build");
      same(GHCommitState.SUCCESS, commit.getLastStatus().getState());
    });

    chapter("labels, milestones", () -> {
      GHRepository repo = ada.getRepository(name);
      repo.createLabel("noise", "f29513", "Too loud");
      same("f29513", repo.getLabel("noise").getColor());
      same(1, repo.createMilestone("v1", "The first").getNumber());
    });

    chapter("issues, comments, reactions", () -> {
      GHIssue theirs = ben.getRepository(name).createIssue("It rattles").body("Always").create();
      GHIssue issue = ada.getRepository(name).getIssue(theirs.getNumber());
      issue.addLabels("noise");
      issue.setMilestone(ada.getRepository(name).getMilestone(1));
      issue.assignTo(ada.getMyself());
      issue.comment("Which wheel, @ben?");
      same(ReactionContent.HEART, theirs.createReaction(ReactionContent.HEART).getContent());
      issue.close();
      GHIssue shown = ben.getRepository(name).getIssue(1);
      same(GHIssueState.CLOSED, shown.getState());
      same("Which wheel, @ben?", shown.listComments().toList().get(0).getBody());
      issue.lock();
      issue.unlock();
    });

    chapter("pull requests, reviews", () -> {
      GHRepository repo = ada.getRepository(name);
      repo.createRef("refs/heads/quiet", repo.getBranch("main").getSHA1());
      repo.createContent().path("oil.txt").content("Oil\n").message("Add oil").branch("quiet").commit();
      GHPullRequest pull = repo.createPullRequest("Oil it", "quiet", "main", "Fixes #1");
      same("oil.txt", pull.listFiles().toList().get(0).getFilename());
      GHPullRequest theirs = ben.getRepository(name).getPullRequest(pull.getNumber());
      same(GHPullRequestReviewState.COMMENTED, theirs.createReview().body("Good").event(GHPullRequestReviewEvent.COMMENT).create().getState());
      pull.merge("Oil it", null, GHPullRequest.MergeMethod.SQUASH);
      same(true, repo.getPullRequest(pull.getNumber()).isMerged());
    });

    chapter("releases", () -> {
      GHRepository repo = ada.getRepository(name);
      GHRelease release = repo.createRelease("v1.0").name("One").create();
      same(release.getId(), ben.getRepository(name).getLatestRelease().getId());
      same("One!", release.update().name("One!").update().getName());
    });

    chapter("git data, tags", () -> {
      GHRepository repo = ada.getRepository(name);
      String parent = repo.getBranch("main").getSHA1();
      GHTree tree = repo.createTree().baseTree(parent).add("parts/wheel", "Brass\n", false).create();
      GHCommit commit = repo.createCommit().message("Add a wheel").tree(tree.getSha()).parent(parent).create();
      repo.getRef("heads/main").updateTo(commit.getSHA1());
      same("Add a wheel", repo.listCommits().toList().get(0).getCommitShortInfo().getMessage());
      same("v1.0", repo.listTags().toList().get(0).getName());
    });

    chapter("stars, watching, followers, forks", () -> {
      GHRepository repo = ben.getRepository(name);
      repo.star();
      same("ben", repo.listStargazers2().toList().get(0).getUser().getLogin());
      repo.subscribe(true, false);
      same(true, repo.getSubscription().isSubscribed());
      ben.getUser("ada").follow();
      same(1, ben.getMyself().getFollows().size());
      same("ben/engine", repo.fork().getFullName());
    });

    chapter("timelines", () -> {
      List<GHEventInfo> events = ben.getRepository(name).listEvents().toList();
      same(GHEvent.FORK, events.get(0).getType());
    });

    chapter("webhooks, collaborators", () -> {
      GHRepository repo = ada.getRepository(name);
      GHHook hook = repo.createWebHook(new java.net.URL("http://127.0.0.1:9999/hook"), List.of(GHEvent.PUSH));
      same(1, repo.getHooks().size());
      hook.delete();
      repo.addCollaborators(ada.getUser("ben"));
      ben.getMyInvitations().get(0).accept();
      same(true, repo.isCollaborator(ada.getUser("ben")));
    });

    chapter("pagination", () -> {
      for (int number = 0; number < 5; number++) ada.getRepository(name).createIssue("Task " + number).label("task").create();
      String titles = ben.getRepository(name).queryIssues().label("task").pageSize(2).list().toList().stream()
          .map(issue -> issue.getTitle().substring(5)).collect(Collectors.joining());
      same("43210", titles);
    });

    chapter("search", () -> {
      same("It rattles", ben.searchIssues().q("rattles repo:ada/engine").isClosed().list().toList().get(0).getTitle());
      same(name, ben.searchRepositories().q("engine").user("ada").list().toList().get(0).getFullName());
    });

    chapter("rate limit, emails, errors", () -> {
      same(true, ada.getRateLimit().getCore().getLimit() > 0);
      same("ada@example.com", ada.getMyself().listEmails().toList().get(0).getEmail());
      refused(GHFileNotFoundException.class, () -> ben.getRepository("ada/nothing"));
      same(false, connect("wrong").isCredentialValid());
    });
  }
}
