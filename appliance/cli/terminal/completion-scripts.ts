// Output of `keystorectl completion`: for each shell, a script that asks keystorectl for candidates.

/** By the name of the shell. Each passes the words before the cursor, the begun one last, to `keystorectl __complete`. */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: `_keystorectl() {
  local IFS=$'\\n'
  COMPREPLY=($(keystorectl __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _keystorectl keystorectl
`,
  zsh: `#compdef keystorectl
_keystorectl() {
  local -a candidates
  candidates=("\${(@f)$(keystorectl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$candidates" ]] && compadd -a candidates || _files
}
compdef _keystorectl keystorectl
`,
  fish: `complete -c keystorectl -a '(keystorectl __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
  // Before 7.3, and with Legacy, PowerShell drops empty arguments of programs; two quotation marks reach them as one.
  powershell: `Register-ArgumentCompleter -Native -CommandName @('keystorectl', 'keystorectl.cmd') -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
  })
  $begun = $wordToComplete.Trim('"', "'")
  if ($begun -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy')) { $begun = '""' }
  $keystorectl = $commandAst.GetCommandName()
  & $keystorectl __complete @words $begun 2>$null | ForEach-Object {
    $text = if ($_ -match '^[\\w./:%+=-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
  }
}
`,
};
