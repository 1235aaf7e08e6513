# Installs Wyren @VERSION@ for the user who runs this: downloads the archive for this machine, checks it, and starts
# `wyren install` in it. Needs no administrator. Run the script of a later version to update.
#
#   powershell -ExecutionPolicy Bypass -c "irm <address of this script> | iex"
#
# WYREN_DOWNLOAD_BASE   downloads from here instead: a mirror that has the archives
#
# `wyren install` honours WYREN_DATA_DIR, and prints what it does and what to type next.

function Install-Wyren {
    # Within this function alone: the script may run in the user's own session.
    $ErrorActionPreference = 'Stop'
    # Windows PowerShell 5 downloads many times as slowly while it draws a progress bar.
    $ProgressPreference = 'SilentlyContinue'

    $version = '@VERSION@'
    $base = '@BASE@'
    # Platform, archive and SHA-256 of each archive of this version.
    $archives = '@ARCHIVES@'

    if ($PSVersionTable.PSEdition -eq 'Core' -and -not $IsWindows) {
        throw 'wyren: this script is for Windows. Nothing was changed. On Linux and macOS, run install.sh.'
    }
    # Agents set one of these in the model's shell, where `wyren install` would refuse as well.
    if ($env:CLAUDECODE -or $env:CODEX_THREAD_ID -or $env:CURSOR_AGENT -or $env:GEMINI_CLI -or $env:OPENCODE) {
        throw 'wyren: this script is for a person. Nothing was changed. Run it in a terminal of your own.'
    }
    # A 32-bit PowerShell names its own architecture first. Windows on ARM runs programs for x86_64.
    $machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $target = if ($machine -in 'AMD64', 'ARM64') { 'x86_64-pc-windows-gnu' } else { "$machine-windows" }
    $line = $archives -split "`r?`n" | Where-Object { $_.StartsWith("$target ") } | Select-Object -First 1
    if (-not $line) {
        throw "wyren: Wyren $version has no archive for $target. Nothing was changed. In a checkout of the source: cargo xtask plugin, then target\plugin\bin\wyren install."
    }
    $null, $archive, $wanted = $line -split ' '
    if ($env:WYREN_DOWNLOAD_BASE) { $base = $env:WYREN_DOWNLOAD_BASE }
    if (-not $base) {
        throw 'wyren: this script comes from a checkout, and has no address to download from. Nothing was changed. Set WYREN_DOWNLOAD_BASE to the address of the folder with the archives.'
    }

    $folder = Join-Path ([IO.Path]::GetTempPath()) "wyren-install-$([Guid]::NewGuid())"
    New-Item -ItemType Directory -Path $folder | Out-Null
    try {
        # `wyren install` then does not say how to add its folder to the PATH: this script adds it.
        $env:WYREN_INSTALLER = '1'
        $file = Join-Path $folder $archive
        Write-Host "Downloading Wyren $version for $target"
        try {
            # Windows PowerShell 5 does not offer TLS 1.2 by itself on every Windows.
            [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
            Invoke-WebRequest -UseBasicParsing -Uri "$base/$archive" -OutFile $file
        } catch {
            throw "wyren: could not download $base/$archive ($($_.Exception.Message)). Nothing was changed. Check the connection and the room on the disk, and run this again. WYREN_DOWNLOAD_BASE names a mirror."
        }
        $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash
        # Compares without regard to case.
        if ($found -ne $wanted) {
            throw "wyren: $base/$archive is not the archive of Wyren ${version}: its SHA-256 is $found, not $wanted. Nothing was changed. The download was damaged or replaced on the way. Run this again; if it happens again, report it."
        }
        $unpacked = Join-Path $folder 'unpacked'
        try {
            Expand-Archive -LiteralPath $file -DestinationPath $unpacked
        } catch {
            throw "wyren: could not unpack $archive in $folder ($($_.Exception.Message)). Nothing was changed. It needs 60 MB there; TEMP names another folder."
        }
        & (Join-Path $unpacked 'plugin\bin\wyren.exe') install
        if ($LASTEXITCODE -ne 0) {
            throw 'wyren: the installation failed; the reason is above. Correct it, and run this script again.'
        }
    } finally {
        Remove-Item -Recurse -Force -LiteralPath $folder
        Remove-Item Env:WYREN_INSTALLER
    }
    Add-WyrenToPath
}

# Adds the folder with `wyren` to the user's PATH, if it is not there.
function Add-WyrenToPath {
    $data = if ($env:WYREN_DATA_DIR) { $env:WYREN_DATA_DIR } else { Join-Path $env:LOCALAPPDATA 'wyren' }
    $places = (Join-Path $HOME '.local\bin'), (Join-Path $data 'plugin\bin')
    $bin = $places | Where-Object { Test-Path (Join-Path $_ 'wyren.*') } | Select-Object -First 1
    # As it is written, with the names of variables: what is read otherwise has their values.
    $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
    $path = $key.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
    $known = ($path -split ';') + ($env:Path -split ';') | ForEach-Object { $_.TrimEnd('\') }
    if (-not $bin -or $known -contains $bin) { return }
    $key.SetValue('Path', ((@($path, $bin) -ne '') -join ';'), [Microsoft.Win32.RegistryValueKind]::ExpandString)
    # Windows tells running programs of a change only if it is made this way.
    [Environment]::SetEnvironmentVariable('WYREN_INSTALLED', '1', 'User')
    [Environment]::SetEnvironmentVariable('WYREN_INSTALLED', $null, 'User')
    $env:Path = "$env:Path;$bin"
    Write-Host "Added $bin to your PATH. New terminals have it."
}

# The last line, so that half a download runs nothing.
Install-Wyren
