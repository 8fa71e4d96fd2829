/** A Probot app that welcomes authors of their first issue. */
export default (app) => {
  app.on('issues.opened', async (context) => {
    const { repository, issue } = context.payload
    const { data: issues } = await context.octokit.rest.issues.listForRepo({
      ...context.repo(),
      creator: issue.user.login,
      state: 'all',
      per_page: 2,
    })
    if (issues.length > 1) return
    const body = `Welcome to ${repository.name}, @${issue.user.login}. Thank you for your first issue!`
    await context.octokit.rest.issues.createComment(context.issue({ body }))
  })
}
