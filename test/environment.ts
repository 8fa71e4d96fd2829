/**
 * The variables of the caller that tests see: those that find programs, print, and choose what runs. Git, PostgreSQL, Node, curl, Mercurial and npm read dozens
 * of others (settings, proxies, certificates, languages), and none of them may decide a test.
 */
const passed = new RegExp(
  `^(${[
    ...['PATH', 'TMPDIR', 'USER', 'LOGNAME', 'TERM', 'COLORTERM', 'COLUMNS', 'NO_COLOR', 'FORCE_COLOR', 'CI'],
    ...['NODE_COMPILE_CACHE', 'NODE_V8_COVERAGE', 'npm_config_\\w+', 'CHROMIUM'],
    // Options of tests and of the runner.
    ...['BELFRY_(TEST|FUZZ|CLIENT)_\\w+', 'KEEP', 'MODEL_\\w+', 'ORDER', 'PICTURES', 'STATEMENTS', 'TIMES'],
  ].join('|')})$`,
)

export function clearEnvironment() {
  const { HOME = '/', HTTPS_PROXY, https_proxy = HTTPS_PROXY, NODE_EXTRA_CA_CERTS } = process.env
  const npm = {
    // Slow tests install packages from the caller's cache.
    npm_config_cache: `${HOME}/.npm`,
    npm_config_userconfig: `${HOME}/.npmrc`,
    ...(https_proxy && { npm_config_https_proxy: https_proxy }),
    ...(NODE_EXTRA_CA_CERTS && { npm_config_cafile: NODE_EXTRA_CA_CERTS }),
  }
  for (const name of Object.keys(process.env)) if (!passed.test(name)) delete process.env[name]
  for (const [name, value] of Object.entries(npm)) process.env[name] ??= value
  Object.assign(process.env, {
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    // The checkout may belong to another account, as in a container.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  })
}
