/** Languages of highlight.js, by the endings of file names. */
const endings: Record<string, string> = {
  ada: 'adb ads',
  apache: 'htaccess',
  asciidoc: 'adoc asciidoc',
  awk: 'awk',
  bash: 'sh bash zsh ksh',
  c: 'c h',
  clojure: 'clj cljc cljs edn',
  cmake: 'cmake',
  coffeescript: 'coffee',
  cpp: 'cc cpp cxx hh hpp hxx ino cu cuh',
  crystal: 'cr',
  csharp: 'cs csx',
  css: 'css',
  d: 'd',
  dart: 'dart',
  delphi: 'pas pp',
  diff: 'diff patch',
  dockerfile: 'dockerfile',
  dos: 'bat cmd',
  elixir: 'ex exs',
  elm: 'elm',
  erb: 'erb',
  erlang: 'erl hrl',
  fortran: 'f f90 f95 for',
  fsharp: 'fs fsi fsx',
  gherkin: 'feature',
  glsl: 'glsl frag vert',
  go: 'go',
  gradle: 'gradle',
  graphql: 'graphql gql',
  groovy: 'groovy',
  haml: 'haml',
  handlebars: 'hbs handlebars',
  haskell: 'hs lhs',
  haxe: 'hx',
  ini: 'ini toml cfg conf editorconfig gitconfig gitmodules',
  java: 'java',
  javascript: 'js cjs mjs jsx',
  json: 'json jsonc json5 webmanifest ipynb',
  julia: 'jl',
  kotlin: 'kt kts',
  latex: 'tex cls sty',
  less: 'less',
  lisp: 'lisp cl el',
  lua: 'lua',
  makefile: 'mk mak',
  markdown: 'md markdown mdown mkd',
  matlab: 'matlab',
  nim: 'nim',
  nix: 'nix',
  objectivec: 'm mm',
  ocaml: 'ml mli',
  perl: 'pl pm',
  pgsql: 'pgsql',
  php: 'php phtml',
  powershell: 'ps1 psm1 psd1',
  prolog: 'pro',
  properties: 'properties',
  protobuf: 'proto',
  puppet: 'puppet',
  python: 'py pyw pyx pyi bzl star',
  qml: 'qml',
  r: 'r',
  ruby: 'rb gemspec rake ru',
  rust: 'rs',
  scala: 'scala sc',
  scheme: 'scm ss rkt',
  scss: 'scss sass',
  sql: 'sql',
  stylus: 'styl',
  swift: 'swift',
  tcl: 'tcl',
  thrift: 'thrift',
  twig: 'twig j2 jinja jinja2',
  typescript: 'ts tsx mts cts',
  vala: 'vala',
  vbnet: 'vb',
  verilog: 'v sv svh',
  vhdl: 'vhd vhdl',
  vim: 'vim',
  wasm: 'wat wast',
  xml: 'xml html htm xhtml svg xsl xslt xsd rss atom plist csproj vue svelte astro',
  yaml: 'yaml yml',
  zephir: 'zep',
}

const byEnding = new Map(Object.entries(endings).flatMap(([name, all]) => all.split(' ').map((ending) => [ending, name])))

const byName = new Map(
  Object.entries({
    bash: '.bashrc .profile .zshrc .bash_profile',
    cmake: 'cmakelists.txt',
    dockerfile: 'dockerfile containerfile',
    groovy: 'jenkinsfile',
    ini: '.npmrc .gitconfig .gitmodules .editorconfig',
    json: '.babelrc .eslintrc .prettierrc composer.lock',
    makefile: 'makefile gnumakefile',
    nginx: 'nginx.conf',
    ruby: 'rakefile gemfile vagrantfile podfile',
  }).flatMap(([language, names]) => names.split(' ').map((name) => [name, language])),
)

/** Languages that occur inside another one. */
export const embedded: Record<string, string[]> = {
  erb: ['xml', 'ruby'],
  handlebars: ['xml'],
  markdown: ['xml'],
  php: ['xml'],
  twig: ['xml'],
  xml: ['css', 'javascript'],
}

/** The language that a word names: `ts`, `typescript`. */
export function namedLanguage(word: string): string | undefined {
  const name = word.toLowerCase()
  return byEnding.get(name) ?? (Object.hasOwn(endings, name) ? name : undefined)
}

/** The language of a file by its name; undefined if highlight.js does not know it. */
export function highlightLanguage(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return byName.get(name) ?? byEnding.get(/\.([^.]+)$/.exec(name)?.[1] ?? '')
}
