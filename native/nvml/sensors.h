// What the operating system tells of the processor's state. Each throws NOT_SUPPORTED where this
// machine does not tell, as in most containers and virtual machines.
#pragma once

namespace aw::nvml {

unsigned current_clock_mhz();
unsigned highest_clock_mhz();
int temperature_celsius();
unsigned long long energy_millijoules();  // since the machine began counting
unsigned power_milliwatts();              // over a tenth of a second
unsigned power_limit_milliwatts();

}  // namespace aw::nvml
