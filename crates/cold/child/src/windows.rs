//! A job object for a child. The last handle to it is ours: when we die, however that is, the system closes it, and ends what
//! is in the job if that was asked for.
//!
//! A child is started suspended and resumed once it is in its job, so that it starts nothing outside.

#![expect(unsafe_code, reason = "job objects are not in the standard library")]

use crate::Orphans;
use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED, OpenThread, ResumeThread,
    THREAD_SUSPEND_RESUME,
};

/// The exit code of what is killed.
const KILLED: u32 = 1;

/// What a group needs as long as its child was not waited for: the job.
#[derive(Debug)]
pub(crate) struct Held(OwnedHandle);

impl Held {
    fn job(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

/// Does nothing: the job does it.
pub fn die_with_us(_command: &mut Command) {}

/// Starts a command in a job of its own. There is no question to end, so a grace is no use.
pub(crate) fn start(command: &mut Command, orphans: Orphans) -> io::Result<(Child, Held)> {
    // SAFETY: a job without a name and with the usual rights; the handle gets an owner at once.
    let job = unsafe {
        let job = CreateJobObjectW(ptr::null(), ptr::null());
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(job)
    };
    if matches!(orphans, Orphans::EndAfter(_)) {
        limit(&job, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
    }
    command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED);
    let mut child = command.spawn()?;
    if let Err(error) = enter(&job, &child).and_then(|()| resume(child.id())) {
        // It has not run yet.
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok((child, Held(job)))
}

fn limit(job: &OwnedHandle, flags: u32) -> io::Result<()> {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = flags;
    // SAFETY: the handle is open, and the structure has the size that goes with its kind.
    let is_set = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
        )
    };
    if is_set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn enter(job: &OwnedHandle, child: &Child) -> io::Result<()> {
    // SAFETY: both handles are open.
    match unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Has the only thread of a suspended process run. The standard library keeps no handle to it, so it is looked for.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: the structure says how long it is; handles get owners before the next call.
    unsafe {
        let list = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        if list == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        let _close = OwnedHandle::from_raw_handle(list);
        let mut entry =
            THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..THREADENTRY32::default() };
        let mut is_there = Thread32First(list, &raw mut entry);
        while is_there != 0 {
            if entry.th32OwnerProcessID == process {
                let thread = OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID);
                if thread.is_null() {
                    return Err(io::Error::last_os_error());
                }
                let _close = OwnedHandle::from_raw_handle(thread);
                return if ResumeThread(thread) == u32::MAX {
                    Err(io::Error::last_os_error())
                } else {
                    Ok(())
                };
            }
            is_there = Thread32Next(list, &raw mut entry);
        }
    }
    Err(io::Error::other("the child has no thread"))
}

pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

pub(crate) fn wait(mut child: Child, held: Held) -> io::Result<ExitStatus> {
    let status = child.wait()?;
    // What is left in the job goes on.
    limit(&held.0, 0)?;
    Ok(status)
}

/// Kills: a process without a window and with a console of its own cannot be asked.
pub(crate) fn ask_to_end(child: &Child, held: &Held) {
    kill_all(child, held);
}

pub(crate) fn kill_all(_child: &Child, held: &Held) {
    // SAFETY: the handle is open. Those that have ended already keep their status.
    unsafe { TerminateJobObject(held.job(), KILLED) };
}
